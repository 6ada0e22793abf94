/// RFC 8259 again, written as plainly as can be, to judge the real reader and writer by.
package struct JSONGrammar {
  private var rest: Substring.UnicodeScalarView

  /// Whether bytes are UTF-8 and one JSON value with blanks around.
  package static func accepts(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    var grammar = JSONGrammar(rest: Substring(text).unicodeScalars)
    return grammar.value() && grammar.rest.isEmpty
  }

  private mutating func blanks() {
    while let next = rest.first, next == " " || next == "\t" || next == "\n" || next == "\r" { rest.removeFirst() }
  }

  private mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.unicodeScalars) else { return false }
    rest.removeFirst(text.unicodeScalars.count)
    return true
  }

  private mutating func value() -> Bool {
    blanks()
    let isValue: Bool
    switch rest.first {
    case "{": isValue = list("{", "}") { $0.string() && $0.colon() && $0.value() }
    case "[": isValue = list("[", "]") { $0.value() }
    case "\"": isValue = string()
    default: isValue = skip("true") || skip("false") || skip("null") || number()
    }
    blanks()
    return isValue
  }

  private mutating func list(_ open: String, _ close: String, _ item: (inout JSONGrammar) -> Bool) -> Bool {
    guard skip(open) else { return false }
    blanks()
    if skip(close) { return true }
    repeat {
      blanks()
      guard item(&self) else { return false }
      blanks()
    } while skip(",")
    return skip(close)
  }

  private mutating func colon() -> Bool {
    blanks()
    return skip(":")
  }

  private mutating func string() -> Bool {
    guard skip("\"") else { return false }
    while let next = rest.popFirst() {
      switch next {
      case "\"": return true
      case "\\":
        guard let letter = rest.popFirst() else { return false }
        guard letter == "u" else {
          guard "\"\\/bfnrt".unicodeScalars.contains(letter) else { return false }
          continue
        }
        guard rest.prefix(4).count == 4, rest.prefix(4).allSatisfy({ $0.properties.isASCIIHexDigit }) else {
          return false
        }
        rest.removeFirst(4)
      default: if next.value < 0x20 { return false }
      }
    }
    return false
  }

  private mutating func digits() -> Bool {
    let count = rest.prefix { ("0"..."9").contains($0) }.count
    rest.removeFirst(count)
    return count > 0
  }

  private mutating func number() -> Bool {
    _ = skip("-")
    if !skip("0"), !digits() { return false }
    if skip("."), !digits() { return false }
    if skip("e") || skip("E") {
      _ = skip("+") || skip("-")
      return digits()
    }
    return true
  }
}
