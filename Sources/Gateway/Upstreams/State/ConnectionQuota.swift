import Policies
import Synchronization

/// The connections to one upstream of the whole process (`limits.max_connections`), and the loops that wait for one.
///
/// Connections belong to loops, and an idle one of one loop is of no use to another. So who gets none says so: then
/// whoever has an idle one closes it, and every place that becomes free is offered to those who wait.
final class ConnectionQuota: Sendable {
  private let quota = Quota()
  /// Wakes a loop that waits, by its number.
  private let waiting = Mutex<[Int: @Sendable () -> Void]>([:])
  private let hasWaiting = Atomic<Bool>(false)

  /// Takes a place; false when there is none.
  func take(limit: Int?) -> Bool {
    if let limit { return quota.take(limit: limit) }
    quota.takeAnyway()
    return true
  }

  var count: Int { quota.count }

  /// Whether another loop waits: what becomes idle is closed then.
  var isWaitedFor: Bool { hasWaiting.load(ordering: .acquiring) }

  /// Says that a loop waits for a place; it may be woken before this returns.
  func wait(loop: Int, limit: Int?, _ wake: @escaping @Sendable () -> Void) {
    waiting.withLock { waiting in
      waiting[loop] = wake
      hasWaiting.store(true, ordering: .releasing)
    }
    // A place that came back between the last look and this has woken nobody.
    if let limit, quota.count < limit { wakeAll() }
  }

  /// A connection is gone.
  func giveBack() {
    quota.giveBack()
    if isWaitedFor { wakeAll() }
  }

  private func wakeAll() {
    let woken = waiting.withLock { waiting in
      let woken = Array(waiting.values)
      waiting = [:]
      hasWaiting.store(false, ordering: .releasing)
      return woken
    }
    // All of them: who finds no place says so again.
    for wake in woken { wake() }
  }
}
