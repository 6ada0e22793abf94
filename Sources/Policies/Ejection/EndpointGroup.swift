import Synchronization

/// The endpoints of one upstream, for all loops and over reloads.
package final class EndpointGroup: Sendable {
  private let members = Mutex<[String: (health: EndpointHealth, users: Int)]>([:])
  private let edition = Atomic<UInt64>(0)
  private let shards: Int

  /// - Parameter shards: loops.
  package init(shards: Int) { self.shards = shards }

  /// Grows with every change of which endpoints can be used, so that nobody has to look at each of them.
  package var version: UInt64 { edition.load(ordering: .relaxed) }

  func changed() { edition.wrappingAdd(1, ordering: .relaxed) }

  /// The endpoint of a name, made when it is new; whoever joins leaves.
  package func join(_ name: String) -> EndpointHealth {
    members.withLock { members in
      if let known = members[name] {
        members[name] = (known.health, known.users + 1)
        return known.health
      }
      let health = EndpointHealth(name: name, group: self, shards: shards)
      members[name] = (health, 1)
      return health
    }
  }

  /// The last one who leaves takes what is known of the endpoint along.
  package func leave(_ health: EndpointHealth) {
    members.withLock { members in
      guard let known = members[health.name], known.health === health else { return }
      members[health.name] = known.users > 1 ? (known.health, known.users - 1) : nil
    }
  }

  /// By name.
  package var all: [EndpointHealth] {
    members.withLock { members in members.values.map(\.health) }.sorted { $0.name < $1.name }
  }

  /// Runs `eject` if another endpoint may be out, one at a time.
  func mayEject(_ health: EndpointHealth, at now: UInt64, _ rules: EjectionRules, _ eject: () -> Void) -> Bool {
    members.withLock { members in
      let ejected = members.values.count { $0.health !== health && $0.health.isEjected(at: now) }
      guard rules.allows(ejected: ejected + 1, of: members.count), !health.isEjected(at: now) else { return false }
      eject()
      return true
    }
  }
}
