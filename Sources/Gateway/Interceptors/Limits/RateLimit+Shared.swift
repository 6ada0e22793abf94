import Configuration
import EventLoops
import HTTPModel
import Metrics
import Policies
import RPC
import Redis

/// A decision of the buckets that replicas share.
extension RateLimit {
  /// Asks the server; the call waits, for a bounded time. Without the server the call is decided at once.
  func ask(_ shared: SharedLimit, _ call: Call) -> InterceptorVerdict {
    guard let client = call.worker.redis[shared.server] else { return decideAlone(shared, call) }
    var early: InterceptorVerdict?
    var isWaiting = false
    shared.take(text(of: call), from: client) { [weak call] outcome in
      guard let call else { return }
      let verdict: InterceptorVerdict
      switch outcome {
      case .decided(let outcome): verdict = self.verdict(outcome, call)
      case .unknown: verdict = decideAlone(shared, call)
      }
      if isWaiting { call.resume(verdict) } else { early = verdict }
    }
    if let early { return early }
    isWaiting = true
    return .wait
  }

  /// What is done when the shared buckets cannot be asked.
  private func decideAlone(_ shared: SharedLimit, _ call: Call) -> InterceptorVerdict {
    call.worker.metrics.limitFallbacks.child([shared.server, shared.onFailure.rawValue])
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

  /// What tells callers apart, as part of a key: no value of a header, which may be a secret.
  private func text(of call: Call) -> String {
    func address() -> String { "client:\(call.remoteAddress?.network.host ?? "")" }
    switch key {
    case .none: return "all"
    case .route: return "route:\(call.route?.plan.procedure ?? "")"
    case .client: return address()
    case .header:
      guard let index = call.head.fields.firstIndex(of: header.span) else { return address() }
      return "header:\(call.head.fields.withValue(at: index) { RedisDigest.of($0) })"
    }
  }
}
