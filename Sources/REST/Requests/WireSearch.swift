import Bytes
import ProtoJSON
import ProtobufSchema

/// Finds values in the wire bytes of a message, by the schema.
enum WireSearch {
  /// The wire type in which a single value of a field comes.
  static func wireType(of kind: Field.Kind) -> WireType {
    switch kind {
    case .double, .fixed64, .sfixed64: .fixed64
    case .float, .fixed32, .sfixed32: .fixed32
    case .string, .bytes, .message: .lengthDelimited
    case .group: .startGroup
    case .int64, .uint64, .int32, .bool, .uint32, .enum, .sint32, .sint64: .varint
    }
  }

  /// The range of a value whose tag was read: payload only, without length or end tag.
  static func payload(_ reader: inout WireReader, _ tag: WireTag) throws(WireError) -> Range<Int> {
    switch tag.type {
    case .lengthDelimited: return try reader.readLengthDelimited()
    case .startGroup: return try reader.readGroup(tag.number)
    default:
      let start = reader.offset
      try reader.skip(tag)
      return start..<reader.offset
    }
  }

  /// The value that a field has in the end: the last one on the wire, parents merged, none after a sibling in its
  /// oneof.
  static func last(
    _ path: ArraySlice<Int>, of message: Int, in schema: Schema, _ wire: Span<UInt8>, _ range: Range<Int>,
    found: inout Range<Int>?
  ) throws(WireError) {
    var isSet = found != nil
    try visit(path, of: message, in: schema, wire, range, isSet: &isSet) { found = $0 }
  }

  /// Appends the parts of a message anywhere in another one: together they are its bytes.
  ///
  /// - Parameter isSet: false without one, and when a sibling in its oneof came after it.
  static func join(
    _ path: ArraySlice<Int>, of message: Int, in schema: Schema, _ wire: Span<UInt8>, _ range: Range<Int>,
    isSet: inout Bool, into parts: inout ByteBuffer
  ) throws(WireError) {
    try visit(path, of: message, in: schema, wire, range, isSet: &isSet) { part in
      if let part { parts.append(wire.extracting(part)) } else { parts.removeAll() }
    }
  }

  /// Shows each value of a field in the order of the wire, and nil when a sibling in its oneof replaces what came.
  private static func visit(
    _ path: ArraySlice<Int>, of message: Int, in schema: Schema, _ wire: Span<UInt8>, _ range: Range<Int>,
    isSet: inout Bool, _ body: (Range<Int>?) -> Void
  ) throws(WireError) {
    guard let step = path.first else { return }
    let fields = schema.messages[message].fields
    let wanted = fields[step]
    var reader = WireReader(wire, range)
    while !reader.isAtEnd {
      let tag = try reader.readTag()
      if tag.number == UInt32(bitPattern: wanted.number), tag.type == wireType(of: wanted.kind) {
        let payload = try payload(&reader, tag)
        if path.count == 1 {
          isSet = true
          body(payload)
        } else {
          try visit(path.dropFirst(), of: wanted.messageIndex, in: schema, wire, payload, isSet: &isSet, body)
        }
      } else {
        try reader.skip(tag)
        if isSet, replaces(tag, wanted, fields) {
          isSet = false
          body(nil)
        }
      }
    }
  }

  /// Whether a tag is of a sibling in the field's oneof.
  private static func replaces(_ tag: WireTag, _ wanted: Field, _ fields: [Field]) -> Bool {
    wanted.oneofIndex >= 0
      && fields.contains { $0.oneofIndex == wanted.oneofIndex && UInt32(bitPattern: $0.number) == tag.number }
  }

  /// The parts of a top-level field that holds a message, in their order: together they are its bytes. None when it is
  /// unset, or a sibling in its oneof came after it.
  static func parts(
    of field: Int, of message: Int, in schema: Schema, _ wire: Span<UInt8>
  ) throws(WireError) -> [Range<Int>] {
    let fields = schema.messages[message].fields
    let wanted = fields[field]
    var parts: [Range<Int>] = []
    var reader = WireReader(wire)
    while !reader.isAtEnd {
      let tag = try reader.readTag()
      let content = try payload(&reader, tag)
      if tag.number == UInt32(bitPattern: wanted.number) {
        if tag.type == wireType(of: wanted.kind) { parts.append(content) }
      } else if !parts.isEmpty, replaces(tag, wanted, fields) {
        parts.removeAll()
      }
    }
    return parts
  }
}
