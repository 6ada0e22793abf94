/// One entry of `listeners:`.
package struct ListenerConfiguration: Sendable, Equatable {
  /// `forwarded:`, the fields by which upstreams learn who called.
  package enum Forwarded: String, Sendable, CaseIterable {
    /// `X-Forwarded-For`, `-Proto`, `-Host` and `-Port`.
    case x
    /// `Forwarded` (RFC 7239).
    case standard
    case both
    /// Neither read nor written: what clients send passes as it is.
    case off
  }

  /// `proxy_protocol:`, whether a connection begins with a header that tells who made it.
  package enum ProxyProtocol: String, Sendable, CaseIterable {
    case required
    /// Who is trusted may send one.
    case optional
  }

  package var address: SocketAddressConfiguration
  /// Nil: without TLS.
  package var tls: ListenerTLSConfiguration?
  /// The proxies whose word on their clients counts (Default: none).
  package var trusted: [AddressRange] = []
  /// (Default: x).
  package var forwarded = Forwarded.x
  /// Nil: no header is looked for.
  package var proxyProtocol: ProxyProtocol?

  package init(address: SocketAddressConfiguration, tls: ListenerTLSConfiguration? = nil) {
    self.address = address
    self.tls = tls
  }
}
