/// How long to wait before a try is made again, if it is worth it.
package enum RetryPause {
  /// - Parameters:
  ///   - retry: 1 for the first one.
  ///   - asked: what the upstream asked for, in nanoseconds; nil: nothing.
  ///   - longest: an upstream that asks for more is not asked again.
  ///   - left: until the deadline; nil: there is none.
  /// - Returns: nanoseconds; nil when there is no time for another try.
  package static func choose(
    _ backoff: Backoff, retry: Int, asked: UInt64?, longest: UInt64, left: UInt64?, random: UInt64
  ) -> UInt64? {
    if let asked, asked > longest { return nil }
    let pause = max(asked ?? 0, backoff.pause(retry, random: random))
    if let left, pause >= left { return nil }
    return pause
  }
}
