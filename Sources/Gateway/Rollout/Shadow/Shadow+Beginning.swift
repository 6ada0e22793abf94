import Configuration
import EventLoops
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// Which calls are copied.
extension Shadow {
  /// The shadow of a call whose side was chosen and that was sent nowhere yet; nil when it gets none.
  static func begin(for call: Call, _ route: RouteState, _ decision: StageDecision) -> Shadow? {
    let plan = route.plan
    let settings = plan.settings
    if decision.shadows { return copy(of: call, route, to: .rpc) }
    if decision.side == .rpc { return settings.shadow.back ? copy(of: call, route, to: .rest) : nil }
    guard settings.dryRun > 0, call.face.kind == .rest, !plan.isStreaming, isDrawn(settings.dryRun) else { return nil }
    let shadow = Shadow(call, route, route.shadowState(call.worker), .dryRun)
    return shadow.isBounded(call) ? shadow : nil
  }

  private static func isDrawn(_ share: Int) -> Bool { share >= 10_000 || Int.random(in: 0..<10_000) < share }

  private static func copy(of call: Call, _ route: RouteState, to side: StageDecision.Side) -> Shadow? {
    let plan = route.plan
    let settings = plan.settings.shadow
    guard let upstream = plan.upstream(of: side), isDrawn(settings.sample) else { return nil }
    let state = route.shadowState(call.worker)
    let shard = call.worker.index
    if plan.isStreaming {
      state.skip(.streaming, shard: shard)
      return nil
    }
    guard settings.unsafe || call.hasNoSideEffects(plan) else {
      state.skip(.unsafe, shard: shard)
      return nil
    }
    guard state.enter(limit: settings.maxInFlight) else {
      state.skip(.inFlight, shard: shard)
      return nil
    }
    guard state.take(perSecond: settings.maxRate, at: call.worker.loop.now.nanoseconds) else {
      state.leave()
      state.skip(.rate, shard: shard)
      return nil
    }
    let shadow = Shadow(call, route, state, .copy(side: side, upstream: upstream))
    return shadow.isBounded(call) ? shadow : nil
  }

  /// Gives up a shadow of which the head says already that it cannot be.
  private func isBounded(_ call: Call) -> Bool {
    if call.head.method == .head {
      skip(.notComparable)
    } else if case .length(let length) = call.requestFraming, length > settings.maxBody {
      skip(.tooLarge)
    } else {
      return true
    }
    callEnded()
    return false
  }
}
