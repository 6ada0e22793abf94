import Bytes
import ProtoJSON
import ProtobufSchema

/// `conformance.ConformanceResponse`: one of its results.
enum ConformanceResponse {
  case parseError(String)
  case serializeError(String)
  case runtimeError(String)
  case protobuf([UInt8])
  case json([UInt8])
  case skipped(String)

  var bytes: ByteBuffer {
    switch self {
    case .parseError(let text): Self.field(1, Array(text.utf8))
    case .runtimeError(let text): Self.field(2, Array(text.utf8))
    case .protobuf(let bytes): Self.field(3, bytes)
    case .json(let bytes): Self.field(4, bytes)
    case .skipped(let text): Self.field(5, Array(text.utf8))
    case .serializeError(let text): Self.field(6, Array(text.utf8))
    }
  }

  private static func field(_ number: UInt32, _ content: [UInt8]) -> ByteBuffer {
    var output = ByteBuffer()
    output.append(tag: number, .lengthDelimited)
    output.append(varint: UInt64(content.count))
    output.append(content)
    return output
  }
}
