import Bytes
import HTTPModel
import ProtoJSON
import ProtobufSchema
import RPC

/// `google.api.HttpBody`: content_type = 1, data = 2; its extensions are not carried over HTTP.
enum HTTPBody {
  /// Appends the fields of the message.
  static func write(
    _ contentType: Span<UInt8>?, _ data: Span<UInt8>, into wire: inout ByteBuffer
  ) throws(RPCError) {
    try begin(contentType, length: data.count, into: &wire)
    wire.append(data)
  }

  /// Appends the fields of the message up to the bytes of its data.
  static func begin(_ contentType: Span<UInt8>?, length: Int, into wire: inout ByteBuffer) throws(RPCError) {
    if let contentType, !contentType.isEmpty {
      guard UTF8Validation.isValid(contentType) else {
        throw RPCError.badRequest(field: "content-type", "not UTF-8")
      }
      wire.append(tag: 1, .lengthDelimited)
      wire.append(varint: UInt64(contentType.count))
      wire.append(contentType)
    }
    guard length > 0 else { return }
    wire.append(tag: 2, .lengthDelimited)
    wire.append(varint: UInt64(length))
  }

  /// Where the two fields lie in the message's bytes; empty ranges when unset.
  static func read(_ wire: Span<UInt8>, _ range: Range<Int>) throws(WireError) -> (type: Range<Int>, data: Range<Int>) {
    var reader = WireReader(wire, range)
    var type = 0..<0
    var data = 0..<0
    while !reader.isAtEnd {
      let tag = try reader.readTag()
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): type = try reader.readLengthDelimited()
      case (2, .lengthDelimited): data = try reader.readLengthDelimited()
      default: try reader.skip(tag)
      }
    }
    return (type, data)
  }

  /// A content type that may stand in a header; `application/octet-stream` for none and for what may not.
  static func header(_ contentType: Span<UInt8>) -> String {
    guard !contentType.isEmpty, FieldSyntax.isValue(contentType) else { return "application/octet-stream" }
    return String(repairing: contentType)
  }
}
