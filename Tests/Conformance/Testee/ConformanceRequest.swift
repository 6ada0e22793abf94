import Bytes
import ProtobufSchema

/// `conformance.ConformanceRequest`, read by hand (conformance/conformance.proto).
struct ConformanceRequest {
  enum Payload {
    case protobuf([UInt8])
    case json([UInt8])
    /// A form that the gateway does not speak.
    case other(String)
  }

  enum Format: UInt64 {
    case protobuf = 1
    case json = 2
    case jspb = 3
    case text = 4
  }

  var payload: Payload?
  var format: Format?
  var messageType = ""
  /// Whether unknown members of JSON are to be ignored (`JSON_IGNORE_UNKNOWN_PARSING_TEST`).
  var ignoresUnknown = false

  init(_ bytes: Span<UInt8>) throws(WireError) {
    var reader = WireReader(bytes)
    while let tag = try reader.nextTag() {
      switch (tag.number, tag.type) {
      case (1, .lengthDelimited): payload = .protobuf(Self.copy(try reader.readBytes()))
      case (2, .lengthDelimited): payload = .json(Self.copy(try reader.readBytes()))
      case (3, .varint): format = Format(rawValue: try reader.readVarint())
      case (4, .lengthDelimited): messageType = try reader.readString()
      case (5, .varint): ignoresUnknown = try reader.readVarint() == 3
      case (7, .lengthDelimited), (8, .lengthDelimited):
        try reader.skip(tag)
        payload = .other(tag.number == 7 ? "JSPB" : "text format")
      default: try reader.skip(tag)
      }
    }
  }

  private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for index in bytes.indices { result.append(bytes[index]) }
    return result
  }
}
