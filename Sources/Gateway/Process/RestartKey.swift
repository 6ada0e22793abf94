import Configuration

/// The keys that only a restart changes: how many threads there are, and the addresses of operators.
enum RestartKey: String, CaseIterable {
  case workers
  case admin
  case probes

  func differs(_ old: GatewayConfiguration, _ new: GatewayConfiguration) -> Bool {
    switch self {
    case .workers: old.workers != new.workers
    case .admin: old.admin.map(\.lasting) != new.admin.map(\.lasting)
    case .probes: old.probes != new.probes
    }
  }
}

extension GatewayConfiguration {
  /// The token of an admin endpoint that listens where another configuration said: of this one, unless it wants the
  /// endpoint elsewhere. Its token may be none since it is for this machine only, and that must not open an address for
  /// all.
  ///
  /// - Parameter started: what the endpoint was opened by.
  func adminToken(ofEndpointIn started: GatewayConfiguration) -> String? {
    guard let now = admin, now.address == started.admin?.address else { return started.admin?.token }
    return now.token
  }
}
