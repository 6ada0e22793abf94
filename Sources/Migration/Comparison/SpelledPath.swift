package import ProtobufSchema

/// Paths as errors and unknown members spell them (`items[3].weight_g`), made general: `items[].weightG`.
package enum SpelledPath {
  /// Characters of one step that the schema does not know: a peer chose it.
  private static let maximumStep = 64
  private static let maximumSteps = 32

  /// The path with JSON names, without positions and without the keys of maps. What the schema does not know stays as
  /// it was spelt, cut when it is long.
  package static func generic(_ path: String, in schema: Schema, message: Int) -> String {
    resolve(path, in: schema, message: message).path
  }

  /// The same path, and whether the schema knows all of it: then a value is what it lacks, such as the name of an enum.
  package static func resolve(_ path: String, in schema: Schema, message: Int) -> (path: String, isKnown: Bool) {
    var current: Int? = message
    var isKnown = true
    var result = ""
    var isKey = false
    for (number, part) in steps(path).enumerated() where number < maximumSteps {
      if isKey {
        isKey = false
        continue
      }
      let name = part.name
      let field = current.flatMap { index in
        schema.messages[index].fields.first { $0.name == name || $0.jsonName == name }
      }
      if !result.isEmpty { result += "." }
      guard let field else {
        result += String(name.unicodeScalars.prefix(maximumStep).map { $0.value < 0x20 ? " " : Character($0) })
        result += String(repeating: "[]", count: min(part.elements, 4))
        current = nil
        isKnown = false
        continue
      }
      result += field.jsonName
      if field.cardinality != .singular { result += "[]" }
      (current, isKey) = inner(field, schema)
    }
    return (result, isKnown)
  }

  private static func inner(_ field: Field, _ schema: Schema) -> (message: Int?, isMap: Bool) {
    guard field.messageIndex >= 0 else { return (nil, false) }
    guard field.cardinality == .map else { return (field.messageIndex, false) }
    let value = schema.messages[field.messageIndex].fields.first { $0.number == 2 }
    return (value.flatMap { $0.messageIndex >= 0 ? $0.messageIndex : nil }, true)
  }

  private static func steps(_ path: String) -> [(name: String, elements: Int)] {
    var steps: [(name: String, elements: Int)] = []
    for part in path.split(separator: ".", maxSplits: maximumSteps, omittingEmptySubsequences: true) {
      var name = part
      var elements = 0
      // Positions behind the name; the name of an extension stands in brackets too.
      while name.last == "]", let open = name.lastIndex(of: "["), open != name.startIndex,
        name[name.index(after: open)...].dropLast().allSatisfy(\.isNumber)
      {
        name = name[..<open]
        elements += 1
      }
      steps.append((String(name), elements))
    }
    return steps
  }
}
