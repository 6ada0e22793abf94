import Configuration

/// The endpoints of one upstream as one loop sees them.
final class UpstreamPool {
  let configuration: UpstreamConfiguration
  let endpoints: [EndpointPool]
  /// How the gateway proves to it who it is; nil: it does not.
  var credentials: PoolCredentials?
  /// Set for the gateway itself.
  private let local: LocalServices?
  private var next: Int

  init(
    configuration: UpstreamConfiguration, endpoints: [EndpointPool], first: Int, local: LocalServices? = nil
  ) {
    self.configuration = configuration
    self.local = local
    self.endpoints = endpoints
    // Loops begin at different endpoints, so that few requests are spread too.
    next = endpoints.isEmpty ? 0 : first % endpoints.count
  }

  /// Gives the attempt a connection of the next endpoint in turn.
  func serve(_ attempt: Attempt, onFreshConnection: Bool = false) {
    if let local { return local.serve(attempt) }
    guard !endpoints.isEmpty else {
      attempt.connectionFailed(
        nil, UpstreamFailure(kind: .overloaded, reason: "\(configuration.name) has no endpoints"))
      return
    }
    next = next + 1 < endpoints.count ? next + 1 : 0
    endpoints[next].serve(attempt, onFreshConnection: onFreshConnection)
  }

  func forget(_ attempt: Attempt) {
    for endpoint in endpoints { endpoint.forget(attempt) }
  }
}
