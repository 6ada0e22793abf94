/// `external_auth:`, another service says who may call.
package struct ExternalAuthConfiguration: Sendable, Equatable {
  /// `method:`
  package enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
  }

  /// `on_failure:`, what becomes of calls while the service gives no verdict.
  package enum Failure: String, Sendable, CaseIterable {
    /// They get 503.
    case deny
    /// They are let through, without what the service would have said.
    case allow
  }

  package var service: RemoteResource
  /// (Default: GET)
  package var method = Method.get
  /// Fields of the caller's request that the service is shown, in lower case (Default: authorization and cookie).
  package var forwardedHeaders = ["authorization", "cookie"]
  /// Fields of its answer that go to the backend, in lower case: from clients they are removed (Default: none).
  package var upstreamHeaders: [String] = []
  /// Fields of its refusal that go to the caller, in lower case (Default: www-authenticate and retry-after).
  package var clientHeaders = ["www-authenticate", "retry-after"]
  /// For a verdict (Default: 1s).
  package var timeout: Duration = .seconds(1)
  /// (Default: deny)
  package var failure = Failure.deny
  /// How long a good verdict is remembered, for the same request line and the same fields; nil: not at all.
  package var cache: Duration?

  package init(service: RemoteResource) { self.service = service }
}
