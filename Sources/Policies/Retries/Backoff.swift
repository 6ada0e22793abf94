/// The pauses between tries: each is a random part of a bound that doubles, so that many callers who failed at the same
/// moment do not come back at the same one ("full jitter").
package struct Backoff: Sendable, Equatable {
  /// Nanoseconds.
  package var base: UInt64
  package var longest: UInt64

  package init(base: UInt64, longest: UInt64) {
    self.base = base
    self.longest = max(base, longest)
  }

  /// - Parameters:
  ///   - retry: 1 for the first one.
  ///   - random: any number.
  /// - Returns: nanoseconds, at most ``bound(_:)``.
  package func pause(_ retry: Int, random: UInt64) -> UInt64 {
    let bound = bound(retry)
    return bound == 0 ? 0 : bound.multipliedFullWidth(by: random).high
  }

  func bound(_ retry: Int) -> UInt64 {
    let shift = min(max(0, retry - 1), 62)
    let (bound, overflow) = base.multipliedReportingOverflow(by: 1 << UInt64(shift))
    return overflow ? longest : min(bound, longest)
  }
}
