import EventLoops
import Metrics
import Migration

/// Testers' headers that chose nothing, for the log: anybody can send any number of them, so few of them are told.
struct OverrideRefusals {
  private static let pause: Duration = .seconds(10)

  private var next: Instant?
  /// Since the last line.
  private var untold = 0

  /// Whether one is told now; then how many were not since the last time.
  mutating func tells(at now: Instant) -> Int? {
    if let next, now < next {
      untold += 1
      return nil
    }
    defer { untold = 0 }
    next = now + Self.pause
    return untold
  }
}

extension Worker {
  /// A tester's header chose nothing: whoever sent it is answered like anybody, and nobody learns whether there is a
  /// secret. The operator does.
  func overrideRefused(_ call: Call, _ route: Route, _ reason: SideOverride.Refusal) {
    metrics.rollout.overridesRefused.child([route.service, route.method, reason.rawValue]).add(1, shard: index)
    guard let more = overrideRefusals.tells(at: loop.now) else { return }
    let why =
      switch reason {
      case .secret: "its secret is wrong"
      case .twice: "it comes twice"
      case .side: "it names no side that has an upstream"
      }
    let others = more == 0 ? "" : "; \(more) more since the last line like this"
    log(
      .warning,
      "\(call.clientAddress?.host ?? "a client") sent the testers' header of \(route.name), and \(why)\(others)")
  }
}
