package import Bytes
package import ProtoJSON
import ProtobufSchema
package import RPC

/// Errors as REST bodies.
package enum RESTErrors {
  /// Writes an error for a REST caller.
  ///
  /// A detail whose type is unknown or whose bytes are broken becomes `{"@type":…,"value":"<base64>"}` alone; code,
  /// message and the other details stay.
  ///
  /// - Parameter codec: renders the details.
  /// - Returns: the content type.
  package static func write(
    _ error: RPCError, format: ErrorFormat, codec: JSONCodec, into output: inout ByteBuffer
  ) -> String {
    let status = error.httpStatus ?? error.code.httpStatus
    switch format {
    case .status:
      output.append("{\"code\":")
      output.append(decimal: error.code.rawValue)
      output.append(",\"message\":")
      JSONText.append(error.message, into: &output)
      output.append(",\"details\":")
      write(error.details, codec, into: &output)
      output.append("}")
    case .google:
      output.append("{\"error\":{\"code\":")
      output.append(decimal: status)
      output.append(",\"message\":")
      JSONText.append(error.message, into: &output)
      output.append(",\"status\":")
      JSONText.append(StatusTable.upperCaseName(of: error.code), into: &output)
      writeMember(error.details, codec, into: &output)
      output.append("}}")
    case .problem:
      output.append("{\"type\":\"about:blank\",\"title\":")
      JSONText.append(StatusTable.title(of: status), into: &output)
      output.append(",\"status\":")
      output.append(decimal: status)
      output.append(",\"detail\":")
      JSONText.append(error.message, into: &output)
      output.append(",\"code\":\"")
      output.append(error.code.name)
      output.append("\"")
      writeMember(error.details, codec, into: &output)
      output.append("}")
      return "application/problem+json"
    case .connect:
      ConnectErrorBody.write(error, into: &output)
    case .template(let template):
      template.write(error, codec: codec, into: &output)
    }
    return "application/json"
  }

  private static func writeMember(_ details: [ErrorDetail], _ codec: JSONCodec, into output: inout ByteBuffer) {
    if details.isEmpty { return }
    output.append(",\"details\":")
    write(details, codec, into: &output)
  }

  static func write(_ details: [ErrorDetail], _ codec: JSONCodec, into output: inout ByteBuffer) {
    output.append("[")
    for (index, detail) in details.enumerated() {
      if index > 0 { output.append(",") }
      write(detail, codec, into: &output)
    }
    output.append("]")
  }

  /// A detail as ProtoJSON writes an Any.
  private static func write(_ detail: ErrorDetail, _ codec: JSONCodec, into output: inout ByteBuffer) {
    output.append("{\"@type\":")
    JSONText.append("type.googleapis.com/\(detail.typeName)", into: &output)
    if let message = codec.schema.messageIndex(named: detail.typeName) {
      var json = ByteBuffer()
      do throws(JSONError) {
        try codec.encode(detail.value.span, message: message, into: &json)
        let wellKnown = codec.schema.messages[message].wellKnown
        if let wellKnown, wellKnown != .empty, wellKnown != .httpBody {
          output.append(",\"value\":")
          output.append(json)
          output.append("}")
        } else if json.count > 2 {
          output.append(",")
          output.append(json, 1..<json.count)
        } else {
          output.append("}")
        }
        return
      } catch {}
    }
    output.append(",\"value\":\"")
    Base64.encode(detail.value.span, into: &output)
    output.append("\"}")
  }
}
