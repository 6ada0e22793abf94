package import Diagnostics

/// One entry of `endpoints:`: a server, or as many as its name has addresses or its service records name.
package struct EndpointConfiguration: Sendable, Hashable {
  /// Where it is found.
  package enum Target: Sendable, Hashable {
    /// `host`, a name or a literal, and `port`.
    case address
    /// A socket of this machine; `host` is its path.
    case unixSocket
    /// Service records (RFC 2782); `host` is their name.
    case service
  }

  package var target = Target.address
  /// A name, an IPv4 literal, or an IPv6 literal without brackets; see ``Target``.
  package var host: String
  /// 0 where the target has none.
  package var port: UInt16
  /// Whether it is spoken to by TLS.
  package var isSecure: Bool
  /// As it goes into the Host field: with the port unless it is the scheme's own, IPv6 in brackets. Of service records
  /// each server has its own.
  package var authority: String
  package var position: SourcePosition
  /// Whether a part of it came from `${env:}` or `${file:}`, so that it is not to be shown.
  package var isSecret = false
  /// Its share of the requests beside the others; of service records theirs is multiplied with it (Default: 1).
  package var weight = 1
  /// Empty: of no zone.
  package var zone = ""

  package init(
    host: String, port: UInt16, isSecure: Bool = false, authority: String, position: SourcePosition
  ) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
    self.authority = authority
    self.position = position
  }

  /// As it is written, for whoever may see it.
  package var text: String {
    switch target {
    case .address: "\(isSecure ? "https" : "http")://\(authority)"
    case .unixSocket: "unix:\(host)"
    case .service: "srv:\(host)"
    }
  }

  /// Equality without the place, the scheme, weight and zone: one address given twice is one endpoint.
  package static func == (left: Self, right: Self) -> Bool {
    left.target == right.target && left.host == right.host && left.port == right.port
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
  }
}
