/// How often something may happen: so many times per period, and so many at once.
///
/// One event is allowed every `period / requests`; the fraction of a nanosecond is kept, so that no rate is rounded.
package struct Rate: Sendable, Hashable {
  /// Events per period, at least 1.
  package let requests: Int
  /// Nanoseconds, at least 1.
  package let period: Int64
  /// Events that may come at once after a pause, at least 1.
  package let burst: Int

  /// Whole nanoseconds from one event to the next, and the rest in parts of `requests`.
  let stepWhole: UInt64
  let stepPart: UInt64
  /// How far ahead of the clock a bucket may be: `burst` steps.
  let toleranceWhole: UInt64
  let tolerancePart: UInt64

  /// Longer than any process runs; a bucket that holds more would only be larger than anyone can see.
  private static let longest: UInt64 = 1 << 62

  /// Nanoseconds until a bucket with so many left is full again, if nobody takes any.
  package func time(toFill left: Int) -> UInt64 {
    let missing = UInt64(max(0, burst - max(0, left)))
    let (whole, overflow) = missing.multipliedReportingOverflow(by: stepWhole)
    return overflow ? Self.longest : min(whole, Self.longest)
  }

  /// Values below 1 count as 1.
  package init(requests: Int, period: Int64, burst: Int) {
    self.requests = max(1, requests)
    self.period = max(1, period)
    self.burst = max(1, burst)
    let parts = UInt64(self.requests)
    (stepWhole, stepPart) = UInt64(self.period).quotientAndRemainder(dividingBy: parts)
    let (product, remainder) = (UInt128(self.burst) * UInt128(self.period)).quotientAndRemainder(
      dividingBy: UInt128(parts))
    toleranceWhole = product > UInt128(Self.longest) ? Self.longest : UInt64(product)
    tolerancePart = UInt64(remainder)
  }

  /// How far so many events at once move a bucket, at most a burst of them: whole nanoseconds, and the rest in parts of
  /// ``requests``.
  func step(of cost: Int) -> (whole: UInt64, part: UInt64) {
    let events = UInt128(min(cost, burst))
    let (whole, part) = (events * UInt128(period)).quotientAndRemainder(dividingBy: UInt128(requests))
    return whole > UInt128(Self.longest) ? (Self.longest, 0) : (UInt64(whole), UInt64(part))
  }

  /// Events that may come at once when a bucket will be full so long from now.
  func left(fullIn: UInt64, part: UInt64) -> Int {
    let owed = UInt128(fullIn) * UInt128(requests) + UInt128(part)
    let (events, more) = owed.quotientAndRemainder(dividingBy: UInt128(period))
    let taken = events + (more > 0 ? 1 : 0)
    return taken >= UInt128(burst) ? 0 : burst - Int(taken)
  }
}
