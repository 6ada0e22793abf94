import Bytes
package import HTTPModel

/// Which protocol a request speaks whose path is a procedure.
package enum ProcedureRequest: Equatable, Sendable {
  case connectUnary(MessageCodec)
  case connectGet
  case connectStreaming(MessageCodec)
  case grpc
  case grpcWeb
  /// Answer with ``RPCError/unsupportedMediaType(_:accepted:)``.
  case unsupportedMediaType
  /// Answer with ``RPCError/methodNotAllowed(allowsGet:)``.
  case methodNotAllowed

  /// Tells by method and Content-Type; `connect-protocol-version` is not needed, curl does not send it.
  ///
  /// - Parameter allowsGet: the procedure is free of side effects (`idempotency_level = NO_SIDE_EFFECTS`).
  package static func classify(_ head: RequestHead, allowsGet: Bool) -> ProcedureRequest {
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
    if names(type, "application/grpc-web-text") || names(type, "application/grpc-web") { return .grpcWeb }
    return names(type, "application/grpc") ? .grpc : .unsupportedMediaType
  }

  /// Whether a type is this one, bare or with `+codec`.
  private static func names(_ type: Span<UInt8>, _ name: StaticString) -> Bool {
    guard MediaType.begins(type, name) else { return false }
    return type.count == name.utf8CodeUnitCount || type[name.utf8CodeUnitCount] == UInt8(ascii: "+")
  }

  /// Whether the framing fields, where they are still there, promise a body.
  private static func announcesBody(_ fields: FieldBlock) -> Bool {
    if fields.contains(.transferEncoding) { return true }
    guard let index = fields.firstIndex(of: .contentLength) else { return false }
    return fields.withValue(at: index) { ASCII.decimal($0) != 0 }
  }
}
