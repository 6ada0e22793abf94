public import Bytes

/// The JSON of an error (Connect protocol, Error JSON): the body of a failed unary call, and a part of the end of a
/// stream.
public enum ConnectErrorBody {
  /// Details beyond which the rest is dropped when reading.
  public static let maximumDetails = 64

  /// Appends `{"code","message","details"}`; an empty message and no details are left out.
  public static func write(_ error: RPCError, into output: inout ByteBuffer) {
    output.append("{\"code\":\"")
    output.append(error.code.name)
    output.append(UInt8(ascii: "\""))
    if !error.message.isEmpty {
      output.append(",\"message\":")
      JSONText.append(error.message, into: &output)
    }
    if !error.details.isEmpty {
      output.append(",\"details\":[")
      for (index, detail) in error.details.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output.append("{\"type\":")
        JSONText.append(detail.typeName, into: &output)
        output.append(",\"value\":\"")
        Base64.encode(detail.value.span, into: &output, padded: false)
        output.append("\"}")
      }
      output.append(UInt8(ascii: "]"))
    }
    output.append(UInt8(ascii: "}"))
  }
}
