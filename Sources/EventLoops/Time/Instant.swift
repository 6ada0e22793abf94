import Glibc

/// A point of the machine's monotonic clock.
package struct Instant: Comparable, Hashable, Sendable {
  /// Nanoseconds since an arbitrary start (CLOCK_MONOTONIC).
  package var nanoseconds: UInt64

  package init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Later than any other.
  package static let distantFuture = Instant(nanoseconds: .max)

  /// Reads the clock. On a loop, ``EventLoop/now`` is cheaper and the same for a whole tick.
  package static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
  }

  package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Clamped at both ends of the clock.
  package static func + (instant: Instant, duration: Duration) -> Instant {
    let step = duration.wholeNanoseconds
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(step.magnitude)
    if step >= 0 { return overflow ? distantFuture : Instant(nanoseconds: sum) }
    return Instant(nanoseconds: instant.nanoseconds > step.magnitude ? instant.nanoseconds - step.magnitude : 0)
  }

  package static func - (instant: Instant, duration: Duration) -> Instant {
    let step = duration.wholeNanoseconds
    return instant + .nanoseconds(step == .min ? .max : -step)
  }

  package static func - (later: Instant, earlier: Instant) -> Duration {
    if later >= earlier {
      return .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds))
    }
    return .nanoseconds(-Int64(clamping: earlier.nanoseconds - later.nanoseconds))
  }
}

extension Duration {
  /// The duration in nanoseconds, clamped to what fits.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    if overflow || carry { return seconds < 0 ? .min : .max }
    return sum
  }
}
