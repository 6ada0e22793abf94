/// Calls back once at a time to come, on the loop's thread.
///
/// Its owner holds it; letting it go cancels it. Setting it again, later or after a cancel, costs a few stores: for as
/// long as a timer lives it keeps its place in the loop's queue, and moves only when that place comes up.
public final class Timer {
  private let queue: TimerQueue
  private let action: () -> Void
  // Unchecked, as all of this file that says so (decision 52): read and written as a whole, never lent.
  /// Meaningful while scheduled.
  @exclusivity(unchecked) var key = TimerKey(deadline: 0, sequence: 0)
  /// Where the queue holds it; -1 for nowhere.
  var position = -1
  @exclusivity(unchecked) public internal(set) var isScheduled = false

  /// - Parameter action: may do anything, such as schedule or cancel this timer or others. The timer holds it: it must
  ///   not hold the timer's owner.
  public init(loop: EventLoop, _ action: @escaping () -> Void) {
    queue = loop.timers
    self.action = action
  }

  deinit {
    if position >= 0 { queue.remove(at: position) }
  }

  /// When it will fire; nil when it will not.
  public var deadline: Instant? { isScheduled ? Instant(nanoseconds: key.deadline) : nil }

  /// Fires at an instant instead of any time set before; one that is past means the next tick, at the soonest.
  public func schedule(at instant: Instant) {
    queue.schedule(self, at: instant)
  }

  /// Fires that long after the beginning of the present tick.
  public func schedule(after duration: Duration) {
    queue.schedule(self, at: queue.now + duration)
  }

  public func cancel() {
    isScheduled = false
  }

  func fire() {
    action()
  }
}
