import Bytes

/// The field names that the gateway itself reads or writes, found once when a field is added.
///
/// `other` is any other name: it is compared by its bytes.
public enum FieldName: UInt8, Sendable, CaseIterable {
  case other
  case accept
  case acceptEncoding
  case acceptRanges
  case allow
  case authorization
  case cacheControl
  case connection
  case connectAcceptEncoding
  case connectContentEncoding
  case connectProtocolVersion
  case connectTimeoutMs
  case contentEncoding
  case contentLength
  case contentMD5
  case contentType
  case cookie
  case date
  case digest
  case etag
  case expect
  case forwarded
  case grpcAcceptEncoding
  case grpcEncoding
  case grpcMessage
  case grpcStatus
  case grpcStatusDetailsBin
  case grpcTimeout
  case host
  case http2Settings
  case ifNoneMatch
  case keepAlive
  case location
  case origin
  case proxyAuthenticate
  case proxyAuthorization
  case proxyConnection
  case range
  case retryAfter
  case server
  case setCookie
  case te
  case traceparent
  case tracestate
  case trailer
  case transferEncoding
  case upgrade
  case userAgent
  case vary
  case via
  case wwwAuthenticate
  case xForwardedFor
  case xForwardedHost
  case xForwardedPort
  case xForwardedProto
  case xRequestId

  /// The name in lower case; empty for `other`.
  public var text: StaticString {
    switch self {
    case .other: ""
    case .accept: "accept"
    case .acceptEncoding: "accept-encoding"
    case .acceptRanges: "accept-ranges"
    case .allow: "allow"
    case .authorization: "authorization"
    case .cacheControl: "cache-control"
    case .connection: "connection"
    case .connectAcceptEncoding: "connect-accept-encoding"
    case .connectContentEncoding: "connect-content-encoding"
    case .connectProtocolVersion: "connect-protocol-version"
    case .connectTimeoutMs: "connect-timeout-ms"
    case .contentEncoding: "content-encoding"
    case .contentLength: "content-length"
    case .contentMD5: "content-md5"
    case .contentType: "content-type"
    case .cookie: "cookie"
    case .date: "date"
    case .digest: "digest"
    case .etag: "etag"
    case .expect: "expect"
    case .forwarded: "forwarded"
    case .grpcAcceptEncoding: "grpc-accept-encoding"
    case .grpcEncoding: "grpc-encoding"
    case .grpcMessage: "grpc-message"
    case .grpcStatus: "grpc-status"
    case .grpcStatusDetailsBin: "grpc-status-details-bin"
    case .grpcTimeout: "grpc-timeout"
    case .host: "host"
    case .http2Settings: "http2-settings"
    case .ifNoneMatch: "if-none-match"
    case .keepAlive: "keep-alive"
    case .location: "location"
    case .origin: "origin"
    case .proxyAuthenticate: "proxy-authenticate"
    case .proxyAuthorization: "proxy-authorization"
    case .proxyConnection: "proxy-connection"
    case .range: "range"
    case .retryAfter: "retry-after"
    case .server: "server"
    case .setCookie: "set-cookie"
    case .te: "te"
    case .traceparent: "traceparent"
    case .tracestate: "tracestate"
    case .trailer: "trailer"
    case .transferEncoding: "transfer-encoding"
    case .upgrade: "upgrade"
    case .userAgent: "user-agent"
    case .vary: "vary"
    case .via: "via"
    case .wwwAuthenticate: "www-authenticate"
    case .xForwardedFor: "x-forwarded-for"
    case .xForwardedHost: "x-forwarded-host"
    case .xForwardedPort: "x-forwarded-port"
    case .xForwardedProto: "x-forwarded-proto"
    case .xRequestId: "x-request-id"
    }
  }

  /// The known name that these bytes spell in any case, or `other`.
  ///
  /// One table look-up by length and first letters, then one comparison.
  public init(_ name: Span<UInt8>) {
    self = .other
    guard name.count >= 2, name.count <= 24 else { return }
    let candidates = Self.candidates(count: name.count, first: ASCII.lowercased(name[0]))
    if candidates.0 == .other { return }
    if Self.spells(name, candidates.0.text) {
      self = candidates.0
    } else if candidates.1 != .other, Self.spells(name, candidates.1.text) {
      self = candidates.1
    }
  }

  /// Whether the bytes are a known name in any case, eight at a time.
  ///
  /// Known names have only letters in lower case, digits and hyphens: of these the letters alone have the bit 0x40, and
  /// where it is the case may differ, which is the bit 0x20.
  private static func spells(_ name: Span<UInt8>, _ text: StaticString) -> Bool {
    let count = name.count
    guard count == text.utf8CodeUnitCount else { return false }
    let bytes = unsafe name.bytes
    let known = unsafe UnsafeRawPointer(text.utf8Start)
    if count >= 8 {
      var offset = 0
      while true {
        let left = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let right = unsafe known.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let mayDiffer = (right & 0x4040_4040_4040_4040) >> 1
        if (left ^ right) & ~mayDiffer != 0 { return false }
        if offset &+ 8 == count { return true }
        // The last piece overlaps the one before.
        offset = Swift.min(offset &+ 8, count &- 8)
      }
    }
    for offset in 0..<count {
      let right = unsafe text.utf8Start[offset]
      if (name[offset] ^ right) & ~((right & 0x40) >> 1) != 0 { return false }
    }
    return true
  }

  /// At most two known names share a length and a first letter.
  @inline(__always)
  private static func candidates(count: Int, first: UInt8) -> (FieldName, FieldName) {
    switch (count, first) {
    case (2, 0x74): (.te, .other)
    case (3, 0x76): (.via, .other)
    case (4, 0x64): (.date, .other)
    case (4, 0x65): (.etag, .other)
    case (4, 0x68): (.host, .other)
    case (4, 0x76): (.vary, .other)
    case (5, 0x61): (.allow, .other)
    case (5, 0x72): (.range, .other)
    case (6, 0x61): (.accept, .other)
    case (6, 0x63): (.cookie, .other)
    case (6, 0x64): (.digest, .other)
    case (6, 0x65): (.expect, .other)
    case (6, 0x6F): (.origin, .other)
    case (6, 0x73): (.server, .other)
    case (7, 0x74): (.trailer, .other)
    case (7, 0x75): (.upgrade, .other)
    case (8, 0x6C): (.location, .other)
    case (9, 0x66): (.forwarded, .other)
    case (10, 0x63): (.connection, .other)
    case (10, 0x6B): (.keepAlive, .other)
    case (10, 0x73): (.setCookie, .other)
    case (10, 0x74): (.tracestate, .other)
    case (10, 0x75): (.userAgent, .other)
    case (11, 0x63): (.contentMD5, .other)
    case (11, 0x67): (.grpcStatus, .other)
    case (11, 0x72): (.retryAfter, .other)
    case (11, 0x74): (.traceparent, .other)
    case (12, 0x63): (.contentType, .other)
    case (12, 0x67): (.grpcTimeout, .grpcMessage)
    case (12, 0x78): (.xRequestId, .other)
    case (13, 0x61): (.authorization, .acceptRanges)
    case (13, 0x63): (.cacheControl, .other)
    case (13, 0x67): (.grpcEncoding, .other)
    case (13, 0x69): (.ifNoneMatch, .other)
    case (14, 0x63): (.contentLength, .other)
    case (14, 0x68): (.http2Settings, .other)
    case (15, 0x61): (.acceptEncoding, .other)
    case (15, 0x78): (.xForwardedFor, .other)
    case (16, 0x63): (.contentEncoding, .other)
    case (16, 0x70): (.proxyConnection, .other)
    case (16, 0x77): (.wwwAuthenticate, .other)
    case (16, 0x78): (.xForwardedHost, .xForwardedPort)
    case (17, 0x74): (.transferEncoding, .other)
    case (17, 0x78): (.xForwardedProto, .other)
    case (18, 0x63): (.connectTimeoutMs, .other)
    case (18, 0x70): (.proxyAuthenticate, .other)
    case (19, 0x70): (.proxyAuthorization, .other)
    case (20, 0x67): (.grpcAcceptEncoding, .other)
    case (23, 0x63): (.connectAcceptEncoding, .other)
    case (23, 0x67): (.grpcStatusDetailsBin, .other)
    case (24, 0x63): (.connectProtocolVersion, .connectContentEncoding)
    default: (.other, .other)
    }
  }
}
