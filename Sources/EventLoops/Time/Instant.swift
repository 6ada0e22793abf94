import Glibc

/// A point of the machine's monotonic clock.
public struct Instant: Comparable, Hashable, Sendable {
  /// Nanoseconds since an arbitrary start (CLOCK_MONOTONIC).
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Later than any other.
  public static let distantFuture = Instant(nanoseconds: .max)

  /// Reads the clock. On a loop, ``EventLoop/now`` is cheaper and the same for a whole tick.
  public static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
  }

  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Clamped at both ends of the clock.
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let step = duration.wholeNanoseconds
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(step.magnitude)
    if step >= 0 { return overflow ? distantFuture : Instant(nanoseconds: sum) }
    return Instant(nanoseconds: instant.nanoseconds > step.magnitude ? instant.nanoseconds - step.magnitude : 0)
  }

  public static func - (instant: Instant, duration: Duration) -> Instant {
    let step = duration.wholeNanoseconds
    return instant + .nanoseconds(step == .min ? .max : -step)
  }

  public static func - (later: Instant, earlier: Instant) -> Duration {
    if later >= earlier {
      return .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds))
    }
    return .nanoseconds(-Int64(clamping: earlier.nanoseconds - later.nanoseconds))
  }

  /// What has passed since an instant, in nanoseconds: without the way over `Duration`. 0 when it is yet to come.
  public func nanoseconds(since earlier: Instant) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
  }
}

extension Duration {
  /// The duration in nanoseconds, clamped to what fits.
  public var wholeNanoseconds: Int64 {
    // One division of two words by one; `components` makes several of two by two.
    let attoseconds = attoseconds
    let magnitude = attoseconds.magnitude
    let high = UInt64(truncatingIfNeeded: magnitude >> 64)
    let low = UInt64(truncatingIfNeeded: magnitude)
    let divisor: UInt64 = 1_000_000_000
    guard high < divisor else { return attoseconds < 0 ? .min : .max }
    let quotient = high == 0 ? low / divisor : divisor.dividingFullWidth((high, low)).quotient
    guard quotient <= UInt64(Int64.max) else { return attoseconds < 0 ? .min : .max }
    return attoseconds < 0 ? -Int64(quotient) : Int64(quotient)
  }
}
