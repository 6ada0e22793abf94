import Bytes
import ProtoJSON
package import ProtobufSchema

/// The fields of a message that a server-sent event has besides its data (WHATWG HTML, section 9.2.6).
package struct EventFields: Sendable, Hashable {
  /// Indices into ``MessageType/fields``.
  package var event: Int?
  package var id: Int?

  package init() {}

  /// The field of a message that a name means, if its values are a word each.
  ///
  /// - Parameter message: index into ``Schema/messages``.
  package static func index(of name: String, in schema: Schema, message: Int) -> Int? {
    schema.messages[message].fields.firstIndex { field in
      guard field.name == name || field.jsonName == name, field.cardinality == .singular else { return false }
      switch field.kind {
      case .message, .group, .bytes, .double, .float: return false
      default: return true
      }
    }
  }

  var isEmpty: Bool { event == nil && id == nil }

  /// Writes the lines before an event's data; a field that is not set has none.
  func write(_ wire: Span<UInt8>, _ binding: RESTBinding, into output: inout ByteBuffer) {
    if let event { Self.write("event: ", event, wire, binding, isName: true, into: &output) }
    if let id { Self.write("id: ", id, wire, binding, isName: false, into: &output) }
  }

  private static func write(
    _ name: StaticString, _ field: Int, _ wire: Span<UInt8>, _ binding: RESTBinding, isName: Bool,
    into output: inout ByteBuffer
  ) {
    var found: Range<Int>?
    var text = ByteBuffer()
    do {
      try WireSearch.last([field], of: binding.output, in: binding.schema, wire, 0..<wire.count, found: &found)
      guard let found else { return }
      try binding.codec.encodeText(wire.extracting(found), message: binding.output, field: field, into: &text)
    } catch {
      // The same message is about to be written as JSON, and says what is wrong with it.
      return
    }
    // The two names that are the stream's own (``StreamWriter``): a message under one of them would end it.
    let isOurs = isName && (ASCII.equal(text.span, "end") || ASCII.equal(text.span, "error"))
    if text.isEmpty || isOurs { return }
    output.append(name)
    let bytes = text.span
    for index in bytes.indices {
      // A line would end, and what follows would be one of another kind.
      switch bytes[index] {
      case 0x0A, 0x0D, 0: output.append(UInt8(ascii: " "))
      case let byte: output.append(byte)
      }
    }
    output.append("\n")
  }
}
