import EventLoops

/// How many lines a second the log has for what clients do wrong. Whoever can make the gateway write one line can make it
/// write a million, which hide the others and fill a disk; metrics count all.
struct PeerLines {
  /// Lines that one loop writes in a second.
  static let most = 20
  private static let second: UInt64 = 1_000_000_000

  private var begin = Instant(nanoseconds: 0)
  private var written = 0
  private var leftOut = 0

  /// Whether a line may be written now.
  ///
  /// - Returns: how many were left out since the last one; nil: this one is left out, too.
  mutating func next(at now: Instant) -> Int? {
    if now.nanoseconds(since: begin) >= Self.second {
      begin = now
      written = 0
    }
    guard written < Self.most else {
      leftOut &+= 1
      return nil
    }
    written += 1
    defer { leftOut = 0 }
    return leftOut
  }
}
