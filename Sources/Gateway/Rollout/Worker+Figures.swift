import Configuration
import EventLoops
import RPC

/// What ended calls say of the side that answered them.
extension Worker {
  /// Counts a call that has ended, unless it says nothing: a tester's, or one whose caller left.
  func countFigures(_ call: Call, elapsed: UInt64) {
    // What a second answer says of its side is no equal to what its own calls say; the first failure was counted.
    guard let decision = call.decision, decision.reason != .override, !decision.hasFallenBack, let route = call.route,
      let outcome = SideFigures.Outcome(of: call, decision)
    else { return }
    countFigures(outcome, decision, route, elapsed: elapsed)
  }

  /// Counts what the chosen side did.
  func countFigures(_ outcome: SideFigures.Outcome, _ decision: StageDecision, _ route: RouteState, elapsed: UInt64) {
    if let key = decision.key, decision.side == .rpc, let weights = route.weights(self), !weights.admits(key) { return }
    route.figures(decision.side, self).count(outcome, nanoseconds: route.plan.isStreaming ? nil : elapsed)
  }
}

extension RouteState {
  /// The figures of one side on this loop.
  func figures(_ side: StageDecision.Side, _ worker: Worker) -> SideFigures {
    if side == .rpc {
      if let rpcFigures { return rpcFigures }
      let figures = worker.shared.figures.figures(of: plan.name, .rpc, shard: worker.index)
      rpcFigures = figures
      return figures
    }
    if let restFigures { return restFigures }
    let figures = worker.shared.figures.figures(of: plan.name, .rest, shard: worker.index)
    restFigures = figures
    return figures
  }

  func weights(_ worker: Worker) -> KeyWeights? {
    if let keyWeights { return keyWeights }
    let weights = plan.settings.guard.map { worker.shared.figures.weights(of: plan.name, $0) }
    keyWeights = weights
    return weights
  }
}

extension SideFigures.Outcome {
  /// Nil for a call that counts on no side.
  init?(of call: Call, _ decision: StageDecision) {
    guard let code = call.outcome else {
      self = .fine
      return
    }
    self.init(code, status: call.status, call.error, of: call, on: decision.side)
  }

  /// What a call's end with a code, on one side, is for that side; nil when it says nothing of it.
  ///
  /// - Parameter status: as a REST caller gets it.
  init?(_ code: Code, status: Int, _ error: RPCError?, of call: Call, on side: StageDecision.Side) {
    switch code {
    // The caller left.
    case .canceled: return nil
    case .unknown, .internal, .dataLoss: self = .failure
    case .deadlineExceeded, .unavailable:
      // Before anybody was asked: its body did not come in time, or the gateway itself had no room.
      if call.wasNobodyAsked { return nil }
      self = .failure
    case .unimplemented where side == .rpc: self = .failure
    case .invalidArgument where call.isRefusedByTranslation(error, side): self = .failure
    default: self = call.face.kind == .rest && status >= 500 ? .failure : .clientError
    }
  }
}

extension Call {
  /// Whether the call ended before its upstream was asked.
  fileprivate var wasNobodyAsked: Bool { upstreamName.isEmpty }

  /// Whether a REST caller, whose request the rest side would have got as it is, was refused because of one field of it:
  /// a name that the schema does not know, a value that does not fit. A body that is no JSON is the caller's fault.
  fileprivate func isRefusedByTranslation(_ error: RPCError?, _ side: StageDecision.Side) -> Bool {
    side == .rpc && face.kind == .rest && wasNobodyAsked && error?.namesField == true
  }
}
