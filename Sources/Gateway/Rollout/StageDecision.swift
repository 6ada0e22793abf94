import Configuration
import EventLoops
import HTTPModel
import Migration

/// Which backend answers a call, why, and whether the other gets a copy; made once per call and recorded.
struct StageDecision {
  enum Side: UInt8 {
    case rest
    case rpc
    case none

    init(_ side: RouteSettings.Side) { self = side == .rest ? .rest : .rpc }

    var label: String {
      switch self {
      case .rest: "rest"
      case .rpc: "rpc"
      case .none: "none"
      }
    }
  }

  /// What made the choice.
  enum Reason: UInt8 {
    /// The stage has one side only.
    case stage
    /// The caller's place among all callers.
    case share
    case rule
    /// A tester's header. Such a call says nothing of how the sides do.
    case override

    var label: String {
      switch self {
      case .stage: "stage"
      case .share: "share"
      case .rule: "rule"
      case .override: "override"
      }
    }
  }

  let stage: RouteSettings.Stage
  /// The chosen one.
  let side: Side
  let reason: Reason
  /// Whether the rpc side gets a copy.
  let shadows: Bool
  /// Whether the chosen side failed, so that the other one answers.
  var hasFallenBack = false
  /// The hash of the caller's key, where a guard bounds what one caller weighs.
  var key: UInt64?

  /// Who answers the caller.
  var answering: Side { hasFallenBack ? side.other : side }

  /// A side that was chosen for this call.
  init(_ stage: RouteSettings.Stage, _ side: RouteSettings.Side, _ reason: Reason) {
    self.stage = stage
    self.side = Side(side)
    self.reason = reason
    shadows = false
  }

  /// What a stage says by itself; of a canary, of which others choose, the side of those whom nobody chooses.
  init(_ stage: RouteSettings.Stage) {
    self.stage = stage
    reason = .stage
    switch stage {
    case .rest, .canary: (side, shadows) = (.rest, false)
    case .shadow: (side, shadows) = (.rest, true)
    case .rpc: (side, shadows) = (.rpc, false)
    }
  }
}

extension StageDecision {
  /// The decision for a call; takes a tester's header out of its head.
  static func make(for call: Call, _ route: Route) -> StageDecision {
    var decision = choose(for: call, route)
    // Now, because upstreams may not see the header.
    if route.weighsKeys { decision.key = route.canary.keys.hash(of: call) }
    return decision
  }

  private static func choose(for call: Call, _ route: Route) -> StageDecision {
    let content = route.presentContent
    let stage = content.setting.stage
    if let override = route.override {
      switch override.take(from: call.head.fields, address: call.addressBits) {
      case .absent: break
      case .side(let side):
        if route.upstream(of: Side(side)) != nil { return StageDecision(stage, side, .override) }
        call.worker.overrideRefused(call, route, .side)
      case .refused(let reason): call.worker.overrideRefused(call, route, reason)
      }
    }
    guard stage == .canary else { return StageDecision(stage) }
    return canary(call, route.canary, content)
  }

  private static func canary(_ call: Call, _ plan: CanaryPlan, _ content: StageCell.Content) -> StageDecision {
    if let side = plan.rules.side(for: call), side == .rest || !content.isTripped {
      return StageDecision(.canary, side, .rule)
    }
    let share = content.setting.share
    // Nobody's place matters at both ends.
    if share == .none { return StageDecision(.canary, .rest, .share) }
    if share == .all { return StageDecision(.canary, .rpc, .share) }
    let place = StickyHash.place(of: plan.keys.hash(of: call))
    return StageDecision(.canary, share.takes(place: place) ? .rpc : .rest, .share)
  }
}

/// How a route's callers are told apart in stage canary.
struct CanaryPlan: Sendable {
  let rules: CanaryRules
  let keys: StickyKeys
}

extension Call: CanaryCaller {
  var fields: FieldBlock { head.fields }

  var callerProtocol: RouteSettings.CallerProtocol {
    switch face.kind {
    case .rest: .rest
    case .connect: .connect
    case .grpc: .grpc
    case .grpcWeb: .grpcWeb
    }
  }

  var addressBits: (high: UInt64, low: UInt64)? { clientAddress?.bits }

  func claim(named name: String) -> String? { claim(name) }
}
