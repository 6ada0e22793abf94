/// How long to wait before the next try to connect: twice as long each time, and by a random part less, so that many
/// that lost the same server do not come back at the same moment.
package struct ReconnectDelay: Sendable {
  /// Nanoseconds.
  private let first: UInt64
  private let most: UInt64
  private var tries = 0

  package init(first: Duration = .milliseconds(50), most: Duration = .seconds(3)) {
    self.first = Self.nanoseconds(first)
    self.most = Self.nanoseconds(most)
  }

  /// The next wait: from half of the present bound to all of it.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    let bound = min(most, first << UInt64(min(tries, 20)))
    tries += 1
    return .nanoseconds(Int64(clamping: UInt64.random(in: bound / 2...bound, using: &generator)))
  }

  /// A connection stood: the next loss begins anew.
  package mutating func reset() { tries = 0 }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    // Hours at the most: nobody waits longer for a server.
    return UInt64(clamping: min(max(seconds, 0), 86_400) * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
