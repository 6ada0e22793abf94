package import Bytes
import ProtoJSON
import ProtobufSchema
package import RPC

/// Errors as google.rpc.Status in protobuf: code = 1, message = 2, repeated Any details = 3.
extension RESTErrors {
  /// Writes an error for a REST caller who reads protobuf: the only shape that it has there, whatever the JSON's is.
  package static func writeProtobuf(_ error: RPCError, into output: inout ByteBuffer) {
    output.append(tag: 1, .varint)
    output.append(varint: UInt64(error.code.rawValue))
    append(2, error.message, into: &output)
    for detail in error.details {
      output.append(tag: 3, .lengthDelimited)
      let start = output.beginLengthDelimited()
      append(1, "type.googleapis.com/\(detail.typeName)", into: &output)
      if !detail.value.isEmpty {
        output.append(tag: 2, .lengthDelimited)
        output.append(varint: UInt64(detail.value.count))
        output.append(detail.value)
      }
      output.endLengthDelimited(start)
    }
  }

  private static func append(_ number: UInt32, _ text: String, into output: inout ByteBuffer) {
    if text.isEmpty { return }
    output.append(tag: number, .lengthDelimited)
    output.append(varint: UInt64(text.utf8.count))
    output.append(text: text)
  }

  /// Reads a Status; nil for what is none, or says that nothing went wrong.
  static func readProtobuf(_ body: Span<UInt8>, _ status: Int) -> RPCError? {
    guard body.count <= maximumDocument else { return nil }
    var reader = WireReader(body)
    var code: Code?
    var message = ""
    var details: [ErrorDetail] = []
    do throws(WireError) {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        switch (tag.number, tag.type) {
        case (1, .varint): code = UInt8(exactly: try reader.readVarint()).flatMap { Code(rawValue: $0) }
        case (2, .lengthDelimited): message = String(repairing: body.extracting(try reader.readLengthDelimited()))
        case (3, .lengthDelimited):
          let any = body.extracting(try reader.readLengthDelimited())
          if details.count < ErrorDocument.maximumDetails, let detail = readAny(any) { details.append(detail) }
        default: try reader.skip(tag)
        }
      }
    } catch {
      return nil
    }
    return code.map { RPCError($0, message.isEmpty ? "HTTP status \(status)" : message, details: details) }
  }

  /// Any: type_url = 1, value = 2; nil when it has no type.
  static func readAny(_ bytes: Span<UInt8>) -> ErrorDetail? {
    var reader = WireReader(bytes)
    var name = ""
    var value: [UInt8] = []
    do throws(WireError) {
      while !reader.isAtEnd {
        let tag = try reader.readTag()
        switch (tag.number, tag.type) {
        case (1, .lengthDelimited):
          let url = String(repairing: bytes.extracting(try reader.readLengthDelimited()))
          name = url.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        case (2, .lengthDelimited):
          var copy = ByteBuffer()
          copy.append(bytes.extracting(try reader.readLengthDelimited()))
          value = copy.bytes
        default: try reader.skip(tag)
        }
      }
    } catch {
      return nil
    }
    return name.isEmpty ? nil : ErrorDetail(typeName: name, value: value)
  }
}
