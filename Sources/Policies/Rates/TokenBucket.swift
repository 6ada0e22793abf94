/// A token bucket as one point in time: the moment at which it will be full again (the generic cell rate algorithm).
///
/// An event moves the moment one step further; it is refused when that would be more than a burst ahead of the clock.
/// So over any window of length `w` at most `burst + w · requests / period` events are taken, and nothing has to be
/// refilled. The clock may go back a little: the bucket then is as full as it was.
package struct TokenBucket: Sendable, Equatable {
  /// Nanoseconds of the caller's clock.
  package private(set) var fullAt: UInt64
  /// The fraction of a nanosecond, in parts of ``Rate/requests``; always less than these.
  private(set) var part: UInt64

  /// A full bucket.
  package init() {
    fullAt = 0
    part = 0
  }

  /// A bucket that is full at a moment.
  init(fullAt: UInt64) {
    self.fullAt = fullAt
    part = 0
  }

  package enum Outcome: Sendable, Equatable {
    case taken
    /// Nanoseconds until one is there, if nobody else takes it; more than 0.
    case refused(wait: UInt64)
  }

  /// Takes one token.
  package mutating func take(at now: UInt64, _ rate: Rate) -> Outcome {
    var whole = fullAt
    var part = part
    if whole < now { (whole, part) = (now, 0) }
    whole = whole &+ rate.stepWhole
    part = part &+ rate.stepPart
    if part >= UInt64(rate.requests) {
      part = part &- UInt64(rate.requests)
      whole = whole &+ 1
    }
    // The clock is below 2^62 for the next century, and the tolerance is bounded: nothing wraps.
    let ahead = whole &- now
    if ahead > rate.toleranceWhole || ahead == rate.toleranceWhole && part > rate.tolerancePart {
      return .refused(wait: max(1, ahead &- rate.toleranceWhole &+ (part > rate.tolerancePart ? 1 : 0)))
    }
    (fullAt, self.part) = (whole, part)
    return .taken
  }
}
