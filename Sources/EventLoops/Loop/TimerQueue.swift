/// The order in which timers fire: by time, then by when they were set.
struct TimerKey: Comparable {
  var deadline: UInt64
  var sequence: UInt64

  static func < (left: TimerKey, right: TimerKey) -> Bool {
    left.deadline == right.deadline ? left.sequence < right.sequence : left.deadline < right.deadline
  }
}

/// The timers of one loop, and its time.
///
/// A heap whose keys may lag behind: a timer that is set to a later time, or cancelled, keeps its old key until that
/// comes up. So the usual life of a timeout, set again and again and never due, does not touch the heap.
final class TimerQueue {
  // Unchecked, as all of this file that says so (decision 52): the heap calls nobody, and a timer's action runs when it
  // is at rest.
  @exclusivity(unchecked) var now = Instant.now()
  @exclusivity(unchecked) private(set) var sequence: UInt64 = 0
  @exclusivity(unchecked) private var heap = TimerHeap()

  func schedule(_ timer: Timer, at instant: Instant) {
    sequence &+= 1
    // Not before now: a timer that sets itself to the past again and again would starve all others.
    timer.key = TimerKey(deadline: Swift.max(instant.nanoseconds, now.nanoseconds), sequence: sequence)
    timer.isScheduled = true
    if timer.position < 0 {
      heap.insert(timer)
    } else if timer.key < heap.key(at: timer.position) {
      heap.update(at: timer.position)
    }
  }

  func remove(at position: Int) {
    heap.remove(at: position)
  }

  /// When the first timer will be due.
  func nextDeadline() -> Instant? {
    first().map { Instant(nanoseconds: $0.key.deadline) }
  }

  /// Takes the first timer that is due.
  ///
  /// One at a time, so that its action finds the queue at rest. Timers that were set since `limit` was read wait for
  /// the next tick.
  func takeDue(armedBefore limit: UInt64) -> Timer? {
    guard let timer = first(), timer.key.deadline <= now.nanoseconds, timer.key.sequence <= limit else { return nil }
    timer.isScheduled = false
    heap.remove(at: 0)
    return timer
  }

  /// The scheduled timer with the lowest key; brings keys that lag behind up to date on the way.
  private func first() -> Timer? {
    while let timer = heap.first {
      if !timer.isScheduled {
        heap.remove(at: 0)
      } else if heap.key(at: 0) < timer.key {
        heap.update(at: 0)
      } else {
        return timer
      }
    }
    return nil
  }
}
