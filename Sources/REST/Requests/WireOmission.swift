import Bytes
import ProtoJSON
import ProtobufSchema

/// Copies messages without some of their fields: those that go into the path.
enum WireOmission {
  /// Appends a part of wire bytes that is one message, its order kept.
  ///
  /// - Parameter paths: indices into ``MessageType/fields`` from the message down; their parents stay.
  static func copy(
    _ wire: Span<UInt8>, _ range: Range<Int>, of message: Int, without paths: [ArraySlice<Int>], in schema: Schema,
    into output: inout ByteBuffer
  ) throws(WireError) {
    guard !paths.isEmpty else { return output.append(wire.extracting(range)) }
    let fields = schema.messages[message].fields
    var reader = WireReader(wire, range)
    while !reader.isAtEnd {
      let start = reader.offset
      let tag = try reader.readTag()
      let here = paths.filter { path in
        guard let step = path.first else { return false }
        let field = fields[step]
        return UInt32(bitPattern: field.number) == tag.number && WireSearch.wireType(of: field.kind) == tag.type
      }
      let content = try WireSearch.payload(&reader, tag)
      if here.contains(where: { $0.count == 1 }) { continue }
      guard let step = here.first?.first else {
        output.append(wire.extracting(start..<reader.offset))
        continue
      }
      output.append(tag: tag.number, tag.type)
      let inner = here.map { $0.dropFirst() }
      if tag.type == .startGroup {
        try copy(wire, content, of: fields[step].messageIndex, without: inner, in: schema, into: &output)
        output.append(tag: tag.number, .endGroup)
      } else {
        let length = output.beginLengthDelimited()
        try copy(wire, content, of: fields[step].messageIndex, without: inner, in: schema, into: &output)
        output.endLengthDelimited(length)
      }
    }
  }
}
