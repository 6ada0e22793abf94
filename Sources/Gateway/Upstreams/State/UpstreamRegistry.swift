import Policies
import Synchronization

/// What is known of one upstream in the whole process, whatever snapshot names it: how its endpoints do, how much of it
/// is in use. Safe from any thread.
final class UpstreamState: Sendable {
  let name: String
  let endpoints: EndpointGroup
  /// Requests under way, where `limits.max_requests` bounds them.
  let requests = Quota()
  /// Requests that wait because all connections are in use.
  let pending = Quota()
  let connections = ConnectionQuota()
  let budget: RetryBudget
  let names = NameTroubles()

  /// - Parameter shards: loops.
  init(name: String, shards: Int) {
    self.name = name
    endpoints = EndpointGroup(shards: shards)
    budget = RetryBudget(shards: shards)
  }
}

/// The states of all upstreams, by name: they outlive reloads.
final class UpstreamRegistry: Sendable {
  private let states = Mutex<[String: UpstreamState]>([:])
  private let shards: Int

  init(shards: Int) { self.shards = shards }

  func state(_ name: String) -> UpstreamState {
    states.withLock { states in
      if let known = states[name] { return known }
      let state = UpstreamState(name: name, shards: shards)
      states[name] = state
      return state
    }
  }

  /// Lets go what belongs to other upstreams than these.
  ///
  /// - Returns: the names of those that are gone.
  func keep(only names: Set<String>) -> [String] {
    states.withLock { states in
      let gone = states.keys.filter { !names.contains($0) }
      for name in gone { states[name] = nil }
      return gone
    }
  }

  var all: [UpstreamState] { states.withLock { Array($0.values) } }
}
