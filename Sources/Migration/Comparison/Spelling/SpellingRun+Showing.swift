import Bytes
import ProtobufSchema
import RPC

/// What samples and logs may say of a value as JSON has it.
extension SpellingRun {
  /// Bytes of a text that is no client's own, and of one that is.
  private static let maximumWord = 64
  private static let maximumText = 256

  /// Numbers, names of enums, times and words are shown; texts and bytes as `samples:` says, by their length at least.
  func shown(_ json: Span<UInt8>, _ place: Place) throws(JSONFault) -> DifferenceValue {
    if isSecret(place) { return ComparisonRun.hidden }
    var scanner = JSONScanner(json)
    _ = scanner.peek()
    switch JSONShape(json) {
    case .object: return .text("an object")
    case .array: return .text("a list")
    case .word:
      let word = try scanner.bareWord()
      // In JSON, nothing is null too.
      return word == "null" ? .text(word) : .literal(word)
    case .number:
      let number = try scanner.bareWord()
      if isText(place), !keepsValues { return .text("a number") }
      return number.utf8.count <= Self.maximumWord ? .literal(number) : .text("a number of \(number.utf8.count) digits")
    case .string:
      let text = try scanner.string()
      let size = "\(text.utf8.count) byte\(text.utf8.count == 1 ? "" : "s")"
      if isText(place), !keepsValues { return .text("a text of \(size)") }
      let limit = isText(place) ? Self.maximumText : Self.maximumWord
      return .text(text.utf8.count <= limit ? text : "\(text.prefix(limit / 4))… (\(size))")
    }
  }

  private func isSecret(_ place: Place) -> Bool {
    switch place {
    case .message: false
    case .one(let field), .map(let field), .list(let field): plan.fields[field].isSecret
    }
  }

  /// Whether the values are texts of whoever wrote them.
  private func isText(_ place: Place) -> Bool {
    switch place {
    case .message: return true
    case .one(let index), .map(let index), .list(let index):
      let field = plan.fields[index]
      switch field.form {
      case .wrapper:
        let node = Int(field.node)
        guard plan.messages.indices.contains(node), let value = plan.messages[node].fields.first else { return true }
        return plan.fields[value].isText
      case .timestamp, .duration: return false
      case .structure, .value, .listValue, .any, .fieldMask: return true
      case .plain: return field.isText || field.isMessage
      }
    }
  }
}
