import Configuration
import EventLoops
import RPC

/// What a side that says nothing may take of the call's time.
///
/// A try with `per_try_timeout` ends by itself. Without one, a side that hangs would take the whole deadline, and the other
/// could not be asked: so it gets half of what there is.
extension SideFallback {
  func beginPatience() {
    guard let deadline = call.deadline else { return }
    let left = deadline - worker.loop.now
    guard left > .zero else { return }
    isPatient = true
    patienceTimer.schedule(after: left / 2)
  }

  func endPatience() {
    guard isPatient else { return }
    isPatient = false
    patienceTimer.cancel()
  }

  /// Half of the time is over. Where the other side cannot be asked the chosen one keeps the rest of it.
  func patienceIsOver() {
    isPatient = false
    let call = call
    guard phase == .ready, !call.sentHead, let attempt = call.attempt, !attempt.hasBegunToAnswer else { return }
    // It was not asked yet: its caller takes the time.
    guard hasWholeRequest else { return beginPatience() }
    let failure = UpstreamFailure(
      kind: .timeout, reason: "\(attempt.pool.configuration.name): no answer within half of the call's time")
    let name = call.upstreamName
    guard turns(after: failure.callError) else { return }
    attempt.judge(failure)
    worker.metrics.upstreams.failed(name, failure.kind, shard: worker.index)
  }
}
