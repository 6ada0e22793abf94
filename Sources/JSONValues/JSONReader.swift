import Bytes
package import RPC

/// Reads one strict JSON text (RFC 8259) into a ``JSONValue``.
///
/// The size is bounded by who collected the bytes, the nesting here. Refused besides what the grammar refuses: a member
/// given twice, text that is not UTF-8, lone surrogates, bytes after the value.
private struct JSONReader: ~Escapable {
  /// Levels of arrays and objects; the admin bodies need one, tokens a few.
  static let maximumDepth = 16

  private var scanner: JSONScanner

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    scanner = JSONScanner(bytes, repairsSurrogates: false)
  }

  var index: Int { scanner.index }

  @_lifetime(self: copy self)
  mutating func read() throws(JSONFault) -> JSONValue {
    _ = scanner.peek()
    if scanner.index == scanner.bytes.count { throw JSONFault("the text is empty where JSON is expected") }
    let value = try value(depth: 0)
    try scanner.finish()
    return value
  }

  @_lifetime(self: copy self)
  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    var isFirst = true
    let next = scanner.peek()
    if depth == Self.maximumDepth, next == UInt8(ascii: "{") || next == UInt8(ascii: "[") {
      throw JSONFault("deeper than \(Self.maximumDepth) levels")
    }
    if scanner.take(UInt8(ascii: "{")) {
      var members: [JSONValue.Member] = []
      var names: Set<String> = []
      while let name = try scanner.nextMember(&isFirst) {
        guard names.insert(name).inserted else { throw JSONFault("member \"\(name)\" comes twice") }
        members.append(JSONValue.Member(name, try value(depth: depth + 1)))
      }
      return .object(members)
    }
    if scanner.take(UInt8(ascii: "[")) {
      var elements: [JSONValue] = []
      while try scanner.nextElement(&isFirst) { elements.append(try value(depth: depth + 1)) }
      return .array(elements)
    }
    if next == UInt8(ascii: "\"") { return .string(try scanner.string()) }
    switch try scanner.bareWord() {
    case "true": return true
    case "false": return false
    case "null": return .null
    case let number: return .literal(number)
    }
  }
}

extension JSONValue {
  /// Reads a whole strict JSON text of bounded depth; see `JSONReader` for what is refused.
  package init(parsing bytes: [UInt8]) throws(JSONFault) {
    guard UTF8Validation.isValid(bytes.span) else { throw JSONFault("the text is not UTF-8") }
    var reader = JSONReader(bytes.span)
    do throws(JSONFault) {
      self = try reader.read()
    } catch {
      throw JSONFault("\(error.message) (at byte \(reader.index))")
    }
  }
}
