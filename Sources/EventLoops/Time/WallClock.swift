import Glibc

/// The machine's clock of day.
public enum WallClock {
  public static func now() -> WallTime { read(CLOCK_REALTIME) }

  /// As ``now()`` and some milliseconds old, for a fraction of the price.
  public static func nowCoarse() -> WallTime { read(CLOCK_REALTIME_COARSE) }

  private static func read(_ clock: clockid_t) -> WallTime {
    var time = timespec()
    clock_gettime(clock, &time)
    return WallTime(seconds: Int64(time.tv_sec), nanoseconds: Int32(truncatingIfNeeded: time.tv_nsec))
  }
}

/// A time of day in UTC, as seconds since 1970 and nanoseconds of the second.
public struct WallTime: Hashable, Sendable, Comparable {
  public var seconds: Int64
  public var nanoseconds: Int32

  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// - Parameter sinceEpoch: nanoseconds since 1970.
  public init(sinceEpoch: Int64) {
    let (seconds, rest) = sinceEpoch.quotientAndRemainder(dividingBy: 1_000_000_000)
    self.init(seconds: rest < 0 ? seconds - 1 : seconds, nanoseconds: Int32(rest < 0 ? rest + 1_000_000_000 : rest))
  }

  /// Nanoseconds since 1970, clamped to what fits: the years 1678 to 2262.
  public var sinceEpoch: Int64 {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(Int64(nanoseconds))
    return overflow || carry ? (seconds < 0 ? .min : .max) : sum
  }

  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.seconds == right.seconds ? left.nanoseconds < right.nanoseconds : left.seconds < right.seconds
  }
}
