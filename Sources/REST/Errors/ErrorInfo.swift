import Bytes
import ProtoJSON
import ProtobufSchema
import RPC

/// `google.rpc.ErrorInfo` (AIP-193): the machine's name of an error, in which an old API's codes live on.
///
/// reason = 1, domain = 2, metadata = 3.
enum ErrorInfo {
  static let typeName = "google.rpc.ErrorInfo"

  /// The reason of the first one among the details; nil when there is none, or it has none.
  static func reason(of error: RPCError) -> String? {
    guard let detail = error.details.first(where: { $0.typeName == typeName }) else { return nil }
    let bytes = detail.value.span
    var reader = WireReader(bytes)
    var reason: String?
    do throws(WireError) {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        if tag.number == 1, tag.type == .lengthDelimited {
          reason = String(repairing: bytes.extracting(try reader.readLengthDelimited()))
        } else {
          try reader.skip(tag)
        }
      }
    } catch {
      // A detail that is broken tells nothing.
      return nil
    }
    return reason.flatMap { $0.isEmpty ? nil : $0 }
  }

  static func detail(reason: String) -> ErrorDetail {
    var value = ByteBuffer()
    value.append(tag: 1, .lengthDelimited)
    value.append(varint: UInt64(reason.utf8.count))
    value.append(text: reason)
    return ErrorDetail(typeName: typeName, value: value.bytes)
  }
}
