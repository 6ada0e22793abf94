extension RPCError {
  /// Whether the error is about one field of the request; see ``badRequest(field:_:)``.
  public var namesField: Bool {
    details.contains { detail in
      // A violation, its length, and in it the field's name before anything else.
      guard detail.typeName == "google.rpc.BadRequest" else { return false }
      var index = 1
      while index < detail.value.count, detail.value[index] >= 0x80 { index += 1 }
      return index + 1 < detail.value.count && detail.value[index + 1] == 0x0A
    }
  }

  /// The media types of unary bodies, for `accept-post`.
  public static let unaryContentTypes = "application/json, application/proto"

  /// HTTP 415: a body, or an `encoding`, that no codec reads. The code is what RPC clients infer from the status.
  ///
  /// - Parameter accepted: what `accept-post` lists.
  public static func unsupportedMediaType(
    _ message: String = "unsupported media type", accepted: String = unaryContentTypes
  ) -> RPCError {
    RPCError(.unknown, message, httpStatus: 415, headers: [(name: "accept-post", value: accepted)])
  }

  /// HTTP 405: a method other than POST, or GET on a procedure that may have side effects.
  public static func methodNotAllowed(allowsGet: Bool) -> RPCError {
    RPCError(
      .unknown, "method not allowed", httpStatus: 405,
      headers: [(name: "allow", value: allowsGet ? "GET, POST" : "POST")])
  }
}
