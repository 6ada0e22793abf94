/// A JSON value of the control plane: the bodies of the admin endpoint, key sets, tokens, the demo's answers.
///
/// Not for the data path: there `ProtoJSON` turns bytes into bytes without building objects.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// As it was written; ``number`` reads it.
  case literal(String)
  case string(String)
  case array([JSONValue])
  /// Members in their order; no name comes twice.
  case object([Member])

  /// One member of an object.
  package struct Member: Sendable, Equatable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// A number without a fraction, of any size.
  package static func integer(_ value: some BinaryInteger) -> JSONValue { .literal("\(value)") }

  /// The member of an object; nil when there is none, or this is no object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The content of a string; nil for anything else. So for the three below.
  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  package var number: Double? {
    if case .literal(let literal) = self { Double(literal) } else { nil }
  }

  package var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  package var members: [Member]? {
    if case .object(let members) = self { members } else { nil }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
  package init(integerLiteral value: Int) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}
