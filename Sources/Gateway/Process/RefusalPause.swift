import EventLoops
import Synchronization

/// One event a second of a kind that strangers can bring about as often as they like.
final class RefusalPause: Sendable {
  /// Seconds since 1970.
  private let last = Mutex<Int64>(.min)

  /// Whether this one is told of.
  func admitsOne() -> Bool {
    let now = Int64(WallClock.now().seconds)
    return last.withLock { last in
      defer { last = now }
      return last != now
    }
  }
}
