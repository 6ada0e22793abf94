import Bytes
public import HTTPModel

/// Which protocol a request speaks whose path is a procedure.
public enum ProcedureRequest: Equatable, Sendable {
  case connectUnary(MessageCodec)
  case connectGet
  case connectStreaming(MessageCodec)
  /// A codec that the gateway does not know is nil: its token stays in the head, and such messages pass untouched or
  /// not at all.
  case grpc(codec: MessageCodec?)
  /// As `grpc`; `isText`: both bodies are base64, see ``GRPCWebText``.
  case grpcWeb(codec: MessageCodec?, isText: Bool)
  /// Answer with ``RPCError/unsupportedMediaType(_:accepted:)``.
  case unsupportedMediaType
  /// Answer with ``RPCError/methodNotAllowed(allowsGet:)``.
  case methodNotAllowed

  /// Tells by method and Content-Type; `connect-protocol-version` is not needed, curl does not send it.
  ///
  /// - Parameter allowsGet: the procedure is free of side effects (`idempotency_level = NO_SIDE_EFFECTS`).
  public static func classify(_ head: RequestHead, allowsGet: Bool) -> ProcedureRequest {
    switch head.method {
    case .post:
      guard head.fields.count(of: .contentType) == 1, let index = head.fields.firstIndex(of: .contentType) else {
        return .unsupportedMediaType
      }
      return head.fields.withValue(at: index) { classify(contentType: $0) }
    case .get where allowsGet:
      return announcesBody(head.fields) ? .unsupportedMediaType : .connectGet
    default:
      return .methodNotAllowed
    }
  }

  private static func classify(contentType value: Span<UInt8>) -> ProcedureRequest {
    let type = value.extracting(MediaType.essence(value))
    if ASCII.equalIgnoringCase(type, "application/proto") { return .connectUnary(.proto) }
    if ASCII.equalIgnoringCase(type, "application/json") { return .connectUnary(.json) }
    if ASCII.equalIgnoringCase(type, "application/connect+proto") { return .connectStreaming(.proto) }
    if ASCII.equalIgnoringCase(type, "application/connect+json") { return .connectStreaming(.json) }
    guard let parts = GRPCContentType.parts(type) else { return .unsupportedMediaType }
    return parts.isWeb ? .grpcWeb(codec: parts.codec, isText: parts.isText) : .grpc(codec: parts.codec)
  }

  /// Whether the framing fields, where they are still there, promise a body.
  private static func announcesBody(_ fields: FieldBlock) -> Bool {
    if fields.contains(.transferEncoding) { return true }
    guard let index = fields.firstIndex(of: .contentLength) else { return false }
    return fields.withValue(at: index) { ASCII.decimal($0) != 0 }
  }
}
