import Synchronization

/// How many of something there may be at the same time, for the whole process.
package final class Quota: Sendable {
  private let used = Atomic<Int>(0)

  package init() {}

  /// Takes one; false when there are `limit` already. A limit may change from call to call.
  package func take(limit: Int) -> Bool {
    if used.add(1, ordering: .relaxed).newValue <= limit { return true }
    used.subtract(1, ordering: .relaxed)
    return false
  }

  /// Takes one over any limit.
  package func takeAnyway() { used.add(1, ordering: .relaxed) }

  /// One that was taken is over.
  package func giveBack() { used.subtract(1, ordering: .relaxed) }

  package var count: Int { used.load(ordering: .relaxed) }
}
