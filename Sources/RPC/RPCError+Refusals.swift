extension RPCError {
  /// The media types of unary bodies, for `accept-post`.
  package static let unaryContentTypes = "application/json, application/proto"

  /// HTTP 415: a body, or an `encoding`, that no codec reads. The code is what RPC clients infer from the status.
  ///
  /// - Parameter accepted: what `accept-post` lists.
  package static func unsupportedMediaType(
    _ message: String = "unsupported media type", accepted: String = unaryContentTypes
  ) -> RPCError {
    RPCError(.unknown, message, httpStatus: 415, headers: [(name: "accept-post", value: accepted)])
  }

  /// HTTP 405: a method other than POST, or GET on a procedure that may have side effects.
  package static func methodNotAllowed(allowsGet: Bool) -> RPCError {
    RPCError(
      .unknown, "method not allowed", httpStatus: 405,
      headers: [(name: "allow", value: allowsGet ? "GET, POST" : "POST")])
  }
}
