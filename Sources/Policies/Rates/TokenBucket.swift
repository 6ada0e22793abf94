/// A token bucket as one point in time: the moment at which it will be full again (the generic cell rate algorithm).
///
/// An event moves the moment one step further; it is refused when that would be more than a burst ahead of the clock.
/// So over any window of length `w` at most `burst + w · requests / period` events are taken, and nothing has to be
/// refilled. The clock may go back a little: the bucket then is as full as it was.
package struct TokenBucket: Sendable, Equatable {
  /// Nanoseconds of the caller's clock.
  private(set) var fullAt: UInt64
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

  /// Whether tokens were taken.
  package enum Outcome: Sendable, Equatable {
    case taken
    /// Nanoseconds until they are there, if nobody else takes it; more than 0.
    case refused(wait: UInt64)
  }

  /// Takes tokens: all of them, or none.
  ///
  /// - Parameter cost: tokens; less than 1 takes none, more than a burst counts as one, since no bucket ever holds more.
  package mutating func take(at now: UInt64, _ rate: Rate, cost: Int = 1) -> Outcome {
    if cost < 1 { return .taken }
    let step = cost == 1 ? (whole: rate.stepWhole, part: rate.stepPart) : rate.step(of: cost)
    var whole = fullAt
    var part = part
    if whole < now { (whole, part) = (now, 0) }
    whole = whole &+ step.whole
    part = part &+ step.part
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

  /// How full the bucket is.
  package func standing(at now: UInt64, _ rate: Rate) -> RateStanding {
    let fullIn = fullAt > now ? fullAt - now : 0
    return RateStanding(remaining: rate.left(fullIn: fullIn, part: fullAt < now ? 0 : part), fullIn: fullIn)
  }
}

/// How full a bucket is, for those who are told.
package struct RateStanding: Sendable, Equatable {
  /// Whole tokens that are there.
  package var remaining: Int
  /// Nanoseconds until all are there, if nobody takes any.
  package var fullIn: UInt64

  package init(remaining: Int, fullIn: UInt64) {
    self.remaining = remaining
    self.fullIn = fullIn
  }
}
