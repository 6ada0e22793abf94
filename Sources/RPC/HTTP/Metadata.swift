import Bytes
public import HTTPModel

/// The rules of Connect and gRPC for the fields that carry metadata.
public enum Metadata {
  /// Whether a name belongs to a protocol (`connect-…`, `trailer-connect-…`, what gRPC reads itself) and is never an
  /// application's.
  public static func isReserved(_ name: Span<UInt8>) -> Bool {
    if MediaType.begins(name, "connect-") || MediaType.begins(name, "trailer-connect-") { return true }
    switch FieldName(name) {
    case .grpcAcceptEncoding, .grpcEncoding, .grpcMessage, .grpcStatus, .grpcStatusDetailsBin, .grpcTimeout: return true
    default: return ASCII.equalIgnoringCase(name, "grpc-message-type")
    }
  }

  /// Whether a name is kept for gRPC itself, now or later (gRPC over HTTP/2, Custom-Metadata): a caller's is not passed
  /// on, since the next gRPC library may take it for its own. The two by which tracing libraries pass their context
  /// through applications are those libraries'.
  public static func isKeptForGRPC(_ name: Span<UInt8>) -> Bool {
    MediaType.begins(name, "grpc-") && !ASCII.equalIgnoringCase(name, "grpc-trace-bin")
      && !ASCII.equalIgnoringCase(name, "grpc-tags-bin")
  }

  /// Whether a name may not stand in trailers: framing, routing, credentials, cookies, and what says how to read
  /// the content (RFC 9110 section 6.5.1).
  static func isForbiddenInTrailers(_ name: Span<UInt8>) -> Bool {
    switch FieldName(name) {
    case .authorization, .cacheControl, .connection, .contentEncoding, .contentLength, .contentType, .cookie, .expect,
      .forwarded, .host, .http2Settings, .keepAlive, .proxyAuthenticate, .proxyAuthorization, .proxyConnection, .range,
      .setCookie, .te, .trailer, .transferEncoding, .upgrade, .wwwAuthenticate, .xForwardedFor, .xForwardedHost,
      .xForwardedPort, .xForwardedProto:
      true
    default:
      ASCII.equalIgnoringCase(name, "content-range") || ASCII.equalIgnoringCase(name, "max-forwards")
    }
  }

  /// Moves the trailing metadata of a unary response out of its headers: `Trailer-X` becomes `X`.
  ///
  /// Reserved names and those that may not stand in trailers are dropped.
  public static func splitTrailers(_ fields: FieldBlock, into trailers: FieldBlock) {
    let prefix: StaticString = "trailer-"
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      let isTrailer = fields.withName(at: index) { name in
        guard name.count > prefix.utf8CodeUnitCount, MediaType.begins(name, prefix) else { return false }
        let bare = name.extracting(droppingFirst: prefix.utf8CodeUnitCount)
        if !isReserved(bare), !isForbiddenInTrailers(bare) {
          fields.withValue(at: index) { value in trailers.append(bare, value) }
        }
        return true
      }
      if isTrailer { fields.remove(at: index) }
    }
  }

  /// Appends what came in the trailers of an HTTP message, but for reserved names and those that may not stand there.
  public static func appendTrailers(_ fields: FieldBlock, to trailers: FieldBlock) {
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      let isFit = fields.withName(at: index) { !isReserved($0) && !isForbiddenInTrailers($0) }
      if isFit { trailers.append(from: fields, at: index) }
    }
  }
}
