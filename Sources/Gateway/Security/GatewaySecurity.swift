import Configuration
import TransportSecurity

/// What the configuration says about TLS, with its files read: part of a snapshot.
struct GatewaySecurity: Sendable {
  /// Listeners that are not here speak without TLS.
  var listeners: [SocketAddressConfiguration: ListenerSecurity] = [:]
  /// By name; for their `https://` endpoints.
  var upstreams: [String: UpstreamSecurity] = [:]
  /// By name.
  var redis: [String: UpstreamSecurity] = [:]
  /// Nil: the admin endpoint speaks without TLS.
  var admin: ServerContext?
  /// The first end of a certificate in each file, in seconds since 1970, by the file as it may be shown.
  var ends: [String: Int] = [:]
}

/// How a listener speaks TLS.
struct ListenerSecurity: Sendable {
  let context: ServerContext
  /// Whether requests for authorities that the certificate does not cover are refused.
  let checksAuthority: Bool
}

/// How the `https://` endpoints of an upstream are spoken to.
struct UpstreamSecurity: Sendable {
  let context: ClientContext
  /// What their certificates have to be for, and SNI says; nil: the endpoint's host.
  let serverName: String?

  /// Connections of another one are not to be used.
  var fingerprint: [UInt8] { context.fingerprint + Array((serverName ?? "").utf8) }
}

/// What ALPN offers and accepts.
enum ApplicationProtocols {
  static let ofListeners = ["h2", "http/1.1"]
  static let ofAdmin = ["http/1.1"]

  /// One only: what an upstream speaks is configured.
  static func ofUpstream(_ http: UpstreamConfiguration.HTTPVersion) -> [String] { [http == .two ? "h2" : "http/1.1"] }
}
