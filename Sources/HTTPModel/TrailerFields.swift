import Bytes

/// Which fields may stand in a trailer section (RFC 9110 section 6.5.1).
public enum TrailerFields {
  /// Marks as removed what says how the message is framed, routed, authenticated, read or cached: who looks at the head
  /// alone must not be contradicted by it.
  public static func removeForbidden(from trailers: FieldBlock) {
    for index in trailers.indices {
      let name = trailers.entry(at: index).name
      if isForbidden(name) || (name == .other && trailers.withName(at: index, isForbidden)) {
        trailers.remove(at: index)
      }
    }
  }

  private static func isForbidden(_ name: FieldName) -> Bool {
    switch name {
    case .connection, .contentLength, .http2Settings, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding,
      .upgrade:
      true
    case .host, .forwarded, .via, .xForwardedFor, .xForwardedHost, .xForwardedPort, .xForwardedProto, .xRequestId: true
    case .authorization, .proxyAuthenticate, .proxyAuthorization, .wwwAuthenticate, .cookie, .setCookie: true
    case .accept, .acceptEncoding, .expect, .ifNoneMatch, .range: true
    case .contentEncoding, .contentType, .cacheControl, .date, .location, .retryAfter, .vary, .allow: true
    case .connectAcceptEncoding, .connectContentEncoding, .connectProtocolVersion, .connectTimeoutMs,
      .grpcAcceptEncoding, .grpcEncoding, .grpcTimeout:
      true
    default: false
    }
  }

  private static func isForbidden(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 3: ASCII.equalIgnoringCase(name, "age")
    case 6: ASCII.equalIgnoringCase(name, "pragma")
    case 7: ASCII.equalIgnoringCase(name, "expires") || ASCII.equalIgnoringCase(name, "warning")
    case 8: ASCII.equalIgnoringCase(name, "if-match") || ASCII.equalIgnoringCase(name, "if-range")
    case 9: ASCII.equalIgnoringCase(name, "x-real-ip")
    case 12: ASCII.equalIgnoringCase(name, "max-forwards")
    case 13: ASCII.equalIgnoringCase(name, "content-range")
    case 17: ASCII.equalIgnoringCase(name, "if-modified-since")
    case 19:
      ASCII.equalIgnoringCase(name, "if-unmodified-since") || ASCII.equalIgnoringCase(name, "authentication-info")
    default: false
    }
  }
}
