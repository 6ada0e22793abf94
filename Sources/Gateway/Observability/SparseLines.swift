import EventLoops

/// How many lines of one kind the log has in a time. Whoever can make the gateway write one line can make it write a
/// million, which hide the others and fill a disk; metrics count all.
struct SparseLines {
  private let most: Int
  private let time: Duration
  /// When the first of those lines was written that count now.
  private var begin: Instant?
  private var written = 0
  private var leftOut = 0

  /// - Parameter most: lines in each such time.
  init(_ most: Int, per time: Duration) {
    self.most = most
    self.time = time
  }

  /// Whether a line may be written now. The clocks of loops may differ a little.
  ///
  /// - Returns: how many were left out since the last one; nil: this one is left out, too.
  mutating func next(at now: Instant) -> Int? {
    if begin.map({ now >= $0 + time }) ?? true {
      begin = now
      written = 0
    }
    guard written < most else {
      leftOut &+= 1
      return nil
    }
    written += 1
    defer { leftOut = 0 }
    return leftOut
  }
}
