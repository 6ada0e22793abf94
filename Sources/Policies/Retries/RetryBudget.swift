import Synchronization

/// How many retries an upstream gets from the whole process: a share of its requests, and so many per second in any case.
///
/// Requests are counted by each loop for itself; a retry looks at all of them. The window is ten seconds, in slots of
/// one.
package final class RetryBudget: Sendable {
  static let slots = 10

  /// One number for each of the last seconds.
  struct Window: Sendable {
    private var counts = [Int](repeating: 0, count: RetryBudget.slots)
    private var second: UInt64 = 0

    mutating func add(at now: UInt64) {
      advance(to: now)
      counts[Int(second % UInt64(RetryBudget.slots))] += 1
    }

    mutating func total(at now: UInt64) -> Int {
      advance(to: now)
      return counts.reduce(0, +)
    }

    private mutating func advance(to now: UInt64) {
      guard now > second else { return }
      let passed = min(now - second, UInt64(RetryBudget.slots))
      for step in 1...passed { counts[Int((second + step) % UInt64(RetryBudget.slots))] = 0 }
      second = now
    }
  }

  private final class Shard: Sendable {
    let requests = Mutex(Window())
  }

  private let shards: [Shard]
  private let retries = Mutex(Window())

  package init(shards: Int) { self.shards = (0..<max(1, shards)).map { _ in Shard() } }

  /// A first try was made.
  ///
  /// - Parameter now: seconds of a clock that does not go back.
  package func countRequest(at now: UInt64, shard: Int) {
    shards[shards.indices.contains(shard) ? shard : 0].requests.withLock { $0.add(at: now) }
  }

  /// Takes one retry; false when there is none left.
  ///
  /// - Parameters:
  ///   - share: parts per 10,000 of the requests of the window.
  ///   - minimum: per second.
  package func take(at now: UInt64, share: Int, minimum: Int) -> Bool {
    retries.withLock { retries in
      var requests = 0
      for shard in shards { requests += shard.requests.withLock { $0.total(at: now) } }
      let allowed = requests * share / 10_000 + minimum * Self.slots
      guard retries.total(at: now) < allowed else { return false }
      retries.add(at: now)
      return true
    }
  }
}
