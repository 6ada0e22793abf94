import Configuration
import EventLoops
import RPC

/// What ended calls say of the side that answered them.
extension Worker {
  /// Counts a call that has ended, unless it says nothing: a tester's, or one whose caller left.
  func countFigures(_ call: Call, elapsed: UInt64) {
    guard let decision = call.decision, decision.reason != .override, let route = call.route,
      let outcome = SideFigures.Outcome(of: call, decision)
    else { return }
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
    switch code {
    // The caller left.
    case .canceled: return nil
    case .unknown, .internal, .dataLoss: self = .failure
    case .deadlineExceeded, .unavailable:
      // Before anybody was asked: its body did not come in time, or the gateway itself had no room.
      if call.wasNobodyAsked { return nil }
      self = .failure
    case .unimplemented where decision.side == .rpc: self = .failure
    case .invalidArgument where call.isRefusedByTranslation(decision): self = .failure
    default: self = call.face.kind == .rest && call.status >= 500 ? .failure : .clientError
    }
  }
}

extension Call {
  /// Whether the call ended before its upstream was asked.
  fileprivate var wasNobodyAsked: Bool { upstreamName.isEmpty }

  /// Whether a REST caller, whose request the rest side would have got as it is, was refused because of one field of it:
  /// a name that the schema does not know, a value that does not fit. A body that is no JSON is the caller's fault.
  fileprivate func isRefusedByTranslation(_ decision: StageDecision) -> Bool {
    decision.side == .rpc && face.kind == .rest && wasNobodyAsked && error?.namesField == true
  }
}
