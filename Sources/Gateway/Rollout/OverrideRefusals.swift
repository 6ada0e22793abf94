import EventLoops
import Metrics
import Migration

extension Worker {
  /// A tester's header chose nothing: whoever sent it is answered like anybody, and nobody learns whether there is a
  /// secret. The operator does, but not of each: anybody can send any number of them.
  func overrideRefused(_ call: Call, _ route: Route, _ reason: SideOverride.Refusal) {
    metrics.rollout.overridesRefused.child([route.service, route.method, reason.rawValue]).add(1, shard: index)
    guard let more = overrideLines.next(at: loop.now) else { return }
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
