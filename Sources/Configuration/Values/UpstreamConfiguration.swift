package import Diagnostics

/// One named backend.
package struct UpstreamConfiguration: Sendable {
  /// `protocol:`
  package enum BackendProtocol: String, Sendable, CaseIterable {
    case rest
    case connect
    case grpc
    case grpcWeb = "grpc-web"

    /// Whether it may stand under `rpc:`.
    package var isRPC: Bool { self != .rest }
  }

  /// `codec:`
  package enum Codec: String, Sendable, CaseIterable {
    case proto
    case json
  }

  /// What is spoken with an upstream. HTTP/2 without TLS is spoken from the first byte (prior knowledge).
  package enum HTTPVersion: String, Sendable, CaseIterable {
    case one = "1.1"
    case two = "2"
  }

  package var name: String
  package var position: SourcePosition
  package var `protocol`: BackendProtocol
  /// What the backend is sent; RPC callers that use the same codec are passed through (Default: proto; of a REST backend
  /// json).
  package var codec: Codec
  /// (Default: 1.1; 2 with `protocol: grpc`, which needs it)
  package var http = HTTPVersion.one
  package var endpoints: [EndpointConfiguration]
  /// For one attempt to open a connection (Default: that of `timeouts.connect`).
  package var connectTimeout: Duration?
  /// Idle connections kept for each endpoint and worker (Default: 32).
  package var maxIdleConnections = 32
  /// Connections for each endpoint and worker, idle ones included (Default: 1024); more requests wait.
  package var maxConnections = 1024
  /// What every request to it gets or loses (Default: nothing).
  package var headers = HeaderChangesConfiguration()
  /// Nil: the caller's go on.
  package var credentials: CredentialsConfiguration?
  /// For `https://` endpoints; nil: the machine's authorities and no certificate of our own.
  package var tls: UpstreamTLSConfiguration?
  /// Whether it is the gateway itself; then it has no endpoints.
  package var isGateway = false

  package init(
    name: String, position: SourcePosition, protocol: BackendProtocol, endpoints: [EndpointConfiguration]
  ) {
    self.name = name
    self.position = position
    self.protocol = `protocol`
    self.endpoints = endpoints
    codec = `protocol` == .rest ? .json : .proto
  }
}

/// `http://host:port` or `https://host:port`; the port defaults to 80 or 443.
package struct EndpointConfiguration: Sendable, Hashable {
  /// A name, an IPv4 literal, or an IPv6 literal without brackets.
  package var host: String
  package var port: UInt16
  /// Whether it is spoken to by TLS.
  package var isSecure: Bool
  /// As it goes into the Host field: with the port unless it is the scheme's own, IPv6 in brackets.
  package var authority: String
  package var position: SourcePosition
  /// Whether a part of it came from `${env:}` or `${file:}`, so that it is not to be shown.
  package var isSecret = false

  package init(
    host: String, port: UInt16, isSecure: Bool = false, authority: String, position: SourcePosition
  ) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
    self.authority = authority
    self.position = position
  }

  /// Equality without the place and the scheme: one address given twice is one endpoint.
  package static func == (left: Self, right: Self) -> Bool { left.host == right.host && left.port == right.port }
  package func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
  }
}
