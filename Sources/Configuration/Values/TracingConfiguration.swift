/// `tracing:`, spans of calls for a collector.
package struct TracingConfiguration: Sendable, Equatable {
  /// How spans are written (OTLP/HTTP).
  package enum Encoding: String, Sendable, CaseIterable {
    case protobuf = "http/protobuf"
    case json = "http/json"
  }

  /// `exporter: { otlp: … }`, who takes the spans.
  package struct Exporter: Sendable, Equatable {
    package var endpoint: RemoteResource
    package var encoding = Encoding.protobuf
    /// Values may be secrets.
    package var headers: [HeaderChangesConfiguration.Field] = []
    /// For one batch (Default: 10s).
    package var timeout: Duration = .seconds(10)
    /// The longest that a span waits for its batch (Default: 5s).
    package var interval: Duration = .seconds(5)
    /// Spans that each worker holds; beyond, they are dropped (Default: 2048).
    package var queue = 2048

    package init(endpoint: RemoteResource) { self.endpoint = endpoint }
  }

  /// Nil: ids are passed on and made, nothing is recorded.
  package var exporter: Exporter?
  /// Parts per 10,000 of the traces that begin here (Default: 100%).
  package var sample = 10_000
  /// Whether a caller's decision goes before our own (Default: true).
  package var parentBased = true
  /// (Default: turnout).
  package var serviceName = "turnout"
  /// Of every span, beside the name: `deployment.environment.name: production`.
  package var resource: [HeaderChangesConfiguration.Field] = []

  package init() {}
}
