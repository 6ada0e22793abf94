/// How often something may happen on one connection: so many at once, and so many more in each second.
package struct FloodBound: Equatable, Sendable {
  package var burst: Int
  package var perSecond: Int

  package init(burst: Int, perSecond: Int) {
    self.burst = burst
    self.perSecond = perSecond
  }
}

/// What one peer may make the other side do on one connection. Beyond a bound the connection ends with
/// ENHANCE_YOUR_CALM, and the fault is counted under the bound's name.
package struct HTTP2Bounds: Equatable, Sendable {
  /// Streams that are reset before they ended, by the peer or because of the peer's faults (CVE-2023-44487).
  package var resets = FloodBound(burst: 500, perSecond: 50)
  /// CONTINUATION frames of one field section (CVE-2024-27316).
  package var continuations = 8
  /// SETTINGS frames, each of which is answered (CVE-2019-9515).
  package var settings = FloodBound(burst: 32, perSecond: 4)
  /// PING frames, each of which is answered (CVE-2019-9512).
  package var pings = FloodBound(burst: 200, perSecond: 20)
  /// Frames that carry nothing: DATA without bytes and end, PRIORITY (CVE-2019-9518).
  package var emptyFrames = FloodBound(burst: 500, perSecond: 50)
  /// WINDOW_UPDATE frames beyond four for each DATA frame that was sent.
  package var windowUpdates = FloodBound(burst: 1000, perSecond: 100)
  /// Answers to SETTINGS and PING that may wait because the peer does not read.
  package var acknowledgements = 256
  /// How many times the limits of a field section it may have before the connection ends; up to that a request is
  /// answered with 431.
  package var headerBombFactor = 4

  package init() {}
}

/// Counts against a ``FloodBound``.
struct FloodMeter {
  private var level = 0
  private var since: UInt64 = 0

  /// Counts one more; false when the bound is exceeded.
  mutating func admit(_ bound: FloodBound, now: UInt64) -> Bool {
    let seconds = now &- since
    if now >= since, seconds >= 1_000_000_000 {
      let passed = Int(clamping: seconds / 1_000_000_000)
      let (back, overflow) = passed.multipliedReportingOverflow(by: bound.perSecond)
      if level > 0 { level = overflow ? 0 : Swift.max(0, level &- back) }
      since = now
    }
    level &+= 1
    return level <= bound.burst
  }

  /// How much may be given in advance.
  private static let maximumCredit = 1 << 20

  /// Allows so many more than the bound.
  mutating func credit(_ count: Int) { level = Swift.max(-Self.maximumCredit, level &- count) }
}
