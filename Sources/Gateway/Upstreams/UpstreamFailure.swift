import HTTP2
import RPC

/// Where and why an upstream exchange failed; tells what the caller may be told and whether another try is safe.
struct UpstreamFailure: Error {
  enum Kind {
    /// No connection could be opened: nothing was sent.
    case connect
    /// The name could not be resolved: nothing was sent.
    case resolve
    /// The connection ended before the answer did.
    case closed
    /// What came is no HTTP.
    case malformed
    /// A time ran out.
    case timeout
    /// More than the message limit.
    case tooLarge
    /// Too many requests wait for a connection.
    case overloaded
    /// There are no credentials to ask it with: nothing was sent.
    case credentials
    /// An HTTP/2 upstream said that it has not looked at the request (REFUSED_STREAM, or GOAWAY below it).
    case refused
    /// An HTTP/2 upstream reset the stream.
    case reset(HTTP2ErrorCode)

    /// For metrics.
    var label: String {
      if case .reset(let code) = self { return "reset_\("\(code.name)".lowercased())" }
      return "\(self)"
    }
  }

  var kind: Kind
  /// For the log.
  var reason: String
  /// Whether no byte of the request had left, so that nobody can have acted on it.
  var nothingSent = false
  /// Whether bytes of an answer had come.
  var answerBegun = false

  /// What a caller is told: whose fault it was and no inner detail.
  var callError: RPCError {
    switch kind {
    case .connect, .resolve:
      RPCError(.unavailable, "the upstream cannot be reached", httpStatus: 503, logDetail: reason)
    case .overloaded:
      RPCError(
        .unavailable, "too many requests wait for the upstream", httpStatus: 503, headers: [("retry-after", "1")],
        logDetail: reason)
    case .credentials:
      RPCError(
        .unavailable, "the upstream cannot be asked at this moment", httpStatus: 503, headers: [("retry-after", "1")],
        logDetail: reason)
    case .closed:
      RPCError(
        .unavailable, "the upstream closed the connection before it answered", httpStatus: 502, logDetail: reason)
    case .refused:
      RPCError(
        .unavailable, "the upstream refused the request", httpStatus: 503, headers: [("retry-after", "1")],
        logDetail: reason)
    case .reset(let code):
      RPCError(
        GRPCStatus.code(ofReset: code.rawValue), "the upstream reset the request", httpStatus: 502, logDetail: reason)
    case .malformed:
      RPCError(.internal, "the upstream's answer is no valid HTTP", httpStatus: 502, logDetail: reason)
    case .timeout:
      RPCError(.deadlineExceeded, "the upstream did not answer in time", logDetail: reason)
    case .tooLarge:
      RPCError(
        .resourceExhausted, "the upstream's answer is larger than limits.message", httpStatus: 502, logDetail: reason)
    }
  }
}
