import Configuration
import Metrics
import Policies
import RPC
import Redis

/// A decision of the buckets that replicas share.
extension RateLimit {
  /// Asks the server; the call waits, for a bounded time. Without the server the call is decided at once.
  func ask(_ shared: SharedLimits, _ call: Call) -> InterceptorVerdict {
    guard let client = call.worker.redis[shared.server] else { return decideAlone(shared, call) }
    var early: InterceptorVerdict?
    var isWaiting = false
    shared.take(keys.map { $0.text(of: call) }, cost: cost(of: call), from: client) { [weak call] outcome in
      guard let call else { return }
      let verdict: InterceptorVerdict
      switch outcome {
      case .decided(let decision, let left): verdict = self.verdict(decision, left: left, call)
      case .unknown: verdict = decideAlone(shared, call)
      }
      if isWaiting { call.resume(verdict) } else { early = verdict }
    }
    if let early { return early }
    isWaiting = true
    return .wait
  }

  /// What is done when the shared buckets cannot be asked.
  private func decideAlone(_ shared: SharedLimits, _ call: Call) -> InterceptorVerdict {
    call.worker.metrics.calls.limitFallbacks.child([shared.server, shared.onFailure.rawValue])
      .add(1, shard: call.worker.index)
    switch shared.onFailure {
    case .local: return decide(call)
    case .open: return .proceed
    case .closed:
      return .refuse(
        RPCError(
          .unavailable, "the limit of requests cannot be checked at this moment", headers: [("retry-after", "1")]))
    }
  }
}
