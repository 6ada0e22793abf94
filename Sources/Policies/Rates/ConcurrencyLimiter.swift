import Synchronization

/// How many calls of a key run at the same time, over the whole process. It holds the keys that have one running and no
/// others, so what it takes is bounded by the calls.
package final class ConcurrencyLimiter: Sendable {
  private final class Shard: Sendable {
    let running = Mutex<[UInt64: Int]>([:])
  }

  package let limit: Int
  private let shards: [Shard]

  /// - Parameter limit: calls of each key; less than 1 counts as 1.
  package init(limit: Int) {
    self.limit = max(1, limit)
    shards = (0..<16).map { _ in Shard() }
  }

  /// Counts a call in.
  ///
  /// - Parameter key: a hash with a secret seed.
  /// - Returns: false when as many as may are running already; it is not counted then.
  package func enter(_ key: UInt64) -> Bool {
    shard(key).running.withLock { running in
      let now = running[key, default: 0]
      guard now < limit else { return false }
      running[key] = now + 1
      return true
    }
  }

  /// Counts a call out that was counted in.
  package func leave(_ key: UInt64) {
    shard(key).running.withLock { running in
      let left = running[key, default: 0] - 1
      running[key] = left > 0 ? left : nil
    }
  }

  /// Calls that run at present.
  package var count: Int { shards.reduce(0) { $0 + $1.running.withLock { $0.values.reduce(0, +) } } }

  private func shard(_ key: UInt64) -> Shard { shards[Int(truncatingIfNeeded: key >> 40) & 15] }
}

/// The concurrency limits of the process under what they are, so that a reload of an unchanged limit goes on counting.
package final class ConcurrencyRegistry: Sendable {
  /// What makes two limits the same one.
  package struct Identity: Hashable, Sendable {
    /// Where the limit stands: all routes, a service, a procedure.
    package var scope: String
    package var limit: Int
    /// What tells callers apart, as the configuration says it.
    package var key: String
    /// Which one of several that are otherwise the same.
    package var number: Int

    package init(scope: String, limit: Int, key: String, number: Int) {
      self.scope = scope
      self.limit = limit
      self.key = key
      self.number = number
    }
  }

  private struct Entry: Sendable {
    weak var limiter: ConcurrencyLimiter?
  }

  private let entries = Mutex<[Identity: Entry]>([:])

  package init() {}

  /// The limiter of an identity: the one in use, or a fresh one.
  package func limiter(for identity: Identity) -> ConcurrencyLimiter {
    entries.withLock { entries in
      if let known = entries[identity]?.limiter { return known }
      entries = entries.filter { $0.value.limiter != nil }
      let limiter = ConcurrencyLimiter(limit: identity.limit)
      entries[identity] = Entry(limiter: limiter)
      return limiter
    }
  }
}
