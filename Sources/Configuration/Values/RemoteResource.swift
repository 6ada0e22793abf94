package import Diagnostics

/// A URL that the gateway itself asks: for keys, tokens, a verdict, or to take traces.
package struct RemoteResource: Sendable, Equatable {
  package var endpoint: EndpointConfiguration
  /// In origin form: the path and the query, as they are sent.
  package var target: String
  /// For `https://`; nil: the machine's authorities and no certificate of our own.
  package var tls: UpstreamTLSConfiguration?
  /// Of the URL.
  package var position: SourcePosition

  package init(endpoint: EndpointConfiguration, target: String, position: SourcePosition) {
    self.endpoint = endpoint
    self.target = target
    self.position = position
  }

  /// Scheme, host and port, as they may be shown.
  package var origin: String {
    endpoint.isSecret ? "(hidden)" : "\(endpoint.isSecure ? "https" : "http")://\(endpoint.authority)"
  }
}
