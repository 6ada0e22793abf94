/// A value as a message shows it: in backticks, at most 80 characters, without control characters.
package func quoted(_ text: String) -> String {
  let limit = 80
  var shown = ""
  var count = 0
  for scalar in text.unicodeScalars {
    if count == limit { break }
    count += 1
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
      shown += "\\u{\(String(scalar.value, radix: 16))}"
    default: shown.unicodeScalars.append(scalar)
    }
  }
  let isWhole = text.unicodeScalars.dropFirst(limit).isEmpty
  return isWhole ? "`\(shown)`" : "`\(shown)…`"
}

/// Names in a sentence: `a`, `b` and `c`.
package func listed(_ names: some Collection<String>, _ word: String = "and") -> String {
  let shown = names.map { quoted($0) }
  guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
  return shown.dropLast().joined(separator: ", ") + " \(word) " + last
}
