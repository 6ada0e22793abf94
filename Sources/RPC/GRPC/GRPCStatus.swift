import Bytes
public import HTTPModel

/// The end of a gRPC or gRPC-Web call: `grpc-status`, `grpc-message` and `grpc-status-details-bin` in trailers, or in
/// the head of a trailers-only response.
public enum GRPCStatus {
  public enum Outcome: Sendable {
    /// No status is there: the caller infers one, see ``code(ofHTTPStatus:)``.
    case absent
    case ok
    case error(RPCError)
  }

  /// Bytes of `grpc-message` beyond which the text is cut.
  static let maximumMessage = 8_192
  /// Bytes of a status message beyond which details are left out: common clients refuse trailers that are larger, and
  /// with them the status.
  static let maximumDetails = 16_384

  /// Reads the status of a field section. Of details, `grpc-status` wins over the code in them, and `grpc-message`
  /// over their message; without it theirs is taken. Malformed details are dropped, and the log says so.
  ///
  /// A status that is no number, or not one of gRPC's, is `unknown`.
  public static func read(_ trailers: FieldBlock) -> Outcome {
    guard let index = trailers.firstIndex(of: .grpcStatus) else { return .absent }
    let number = trailers.count(of: .grpcStatus) == 1 ? trailers.withValue(at: index) { ASCII.decimal($0) } : nil
    if number == 0 { return .ok }
    var message = ""
    if let index = trailers.firstIndex(of: .grpcMessage) {
      message = trailers.withValue(at: index) { GRPCMessage.decode($0) }
    }
    var error = RPCError(.unknown, message)
    if let index = trailers.firstIndex(of: .grpcStatusDetailsBin) { addDetails(of: trailers, at: index, to: &error) }
    if let number, let code = UInt8(exactly: number).flatMap(Code.init(rawValue:)) {
      error.code = code
    } else {
      let text = trailers.text(at: index)
      let count = trailers.count(of: .grpcStatus)
      let reason = count == 1 ? "is \"\(text)\", which is none of gRPC's" : "stands there \(count) times"
      if error.message.isEmpty { error.message = "grpc-status \(reason)" }
      error.logDetail = "grpc-status: \(text)"
    }
    return .error(error)
  }

  private static func addDetails(of trailers: FieldBlock, at index: Int, to error: inout RPCError) {
    let status: StatusMessage? = trailers.withValue(at: index) { value in
      var bytes = ByteBuffer()
      return Base64.decode(value, into: &bytes) ? StatusMessage(bytes.span) : nil
    }
    guard let status else {
      error.logDetail = "grpc-status-details-bin is malformed"
      return
    }
    if error.message.isEmpty { error.message = status.message }
    error.details = status.details
  }

  /// Appends the fields of an end: status 0 without an error; the message and the details where there are any.
  ///
  /// A message over 8 KiB is cut, details over 16 KiB are left out: clients drop larger trailers, the status with them.
  public static func write(_ error: RPCError?, into trailers: FieldBlock) {
    guard let error else {
      trailers.append(.grpcStatus, "0")
      return
    }
    trailers.append(.grpcStatus, decimal: Int(error.code.rawValue))
    var text = ByteBuffer()
    if !error.message.isEmpty {
      GRPCMessage.encode(error.message, into: &text, limit: maximumMessage)
      trailers.append(.grpcMessage, text.span)
    }
    guard !error.details.isEmpty else { return }
    var message = ByteBuffer()
    StatusMessage.write(error, into: &message)
    guard message.count <= maximumDetails else { return }
    text.removeAll()
    Base64.encode(message.span, into: &text, padded: false)
    trailers.append(.grpcStatusDetailsBin, text.span)
  }

  /// Removes the fields of the status, so that what is left is metadata.
  public static func removeFields(from fields: FieldBlock) {
    fields.remove(.grpcStatus)
    fields.remove(.grpcMessage)
    fields.remove(.grpcStatusDetailsBin)
  }
}
