import Diagnostics

/// The path of a field as people write it: `parcel.items[].weight_g`, `*` for any one step.
///
/// Names are JSON or proto names; `[]` behind a repeated field or a map may be left out. An extension stands in
/// brackets: `[pkg.priority]`.
package struct FieldPath: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    /// Nil for `*`.
    let name: String?
    let hasBrackets: Bool

    func matches(_ names: (proto: String, json: String)) -> Bool {
      guard let name else { return true }
      return name == names.proto || name == names.json
    }
  }

  /// Why a text is no path, or no path of a message; with the cure.
  package struct Fault: Error, Equatable {
    package let what: String
    package let cure: String
  }

  let steps: [Step]

  /// Deeper ones are refused: no message is read as deep.
  private static let maximumSteps = 100

  package init(_ text: String) throws(Fault) {
    var steps: [Step] = []
    for part in Self.split(text) {
      var name = part
      let hasBrackets = name.hasSuffix("[]")
      if hasBrackets { name.removeLast(2) }
      let isExtension = name.hasPrefix("[") && name.hasSuffix("]") && name.count > 2
      guard !name.isEmpty, isExtension || !name.contains(where: { "[]".contains($0) }) else {
        throw Fault(what: "is not a field's path", cure: "write names with dots between them, as in `items[].price`")
      }
      steps.append(Step(name: name == "*" ? nil : name, hasBrackets: hasBrackets))
    }
    guard steps.count <= Self.maximumSteps else {
      throw Fault(what: "is a path of more than \(Self.maximumSteps) steps", cure: "name a field nearer to the top")
    }
    self.steps = steps
  }

  /// Splits at dots outside brackets.
  private static func split(_ text: String) -> [String] {
    var parts = [""]
    var depth = 0
    for character in text {
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      if character == ".", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
    }
    return parts
  }
}
