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
