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
  /// (Default: round_robin)
  package var balance = BalanceConfiguration.roundRobin
  /// Endpoints of this zone are preferred; empty: all are equal (Default: that of the whole gateway).
  package var zone = ""
  /// Parts per 10,000: with fewer endpoints that can be used, all are (Default: 10%).
  package var panicThreshold = 1_000
  /// Nil: endpoints are not checked.
  package var healthCheck: HealthCheckConfiguration?
  /// Nil: whatever an endpoint answers, it is asked again.
  package var outlierEjection: OutlierEjectionConfiguration?
  /// Nil: only what cannot have been acted on is sent again.
  package var retries: RetryConfiguration?
  package var limits = UpstreamLimitsConfiguration()
  /// Connections that each worker opens to each endpoint before they are needed (Default: 0).
  package var prewarm = 0
  /// The age at which a connection gets no further requests; nil: none.
  package var maximumConnectionAge: Duration?
  /// Requests after which a connection gets no further ones; nil: as many as there are.
  package var maximumRequestsPerConnection: Int?
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
