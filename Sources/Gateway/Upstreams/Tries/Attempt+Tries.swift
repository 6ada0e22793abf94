import Configuration
import EventLoops
import HTTPModel

/// Tries beside the first one, as a ``RetryPlan`` allows them.
extension Attempt {
  /// Whether the answer that begins with this head is dropped, for another try.
  func holdsBack(_ head: ResponseHead, _ tries: Tries) -> Bool {
    guard request.isIdempotent, canReplay, let reason = tries.plan.reason(head, from: pool.configuration.protocol),
      tries.takeRetry(of: pool.state, reason, asked: RetryPlan.asked(head.fields, now: WallClock.now()))
    else { return false }
    tries.hold()
    failedEndpoint = endpoint
    return true
  }

  func triesAgain(_ failure: UpstreamFailure) -> Bool {
    guard let tries, let reason = tries.plan.reason(failure.kind) else { return false }
    // Where nobody can have acted on it the method does not matter.
    let isUntouched: Bool
    switch failure.kind {
    case .connect, .resolve, .refused: isUntouched = true
    default: isUntouched = failure.nothingSent
    }
    guard isUntouched || request.isIdempotent, canReplay, tries.takeRetry(of: pool.state, reason) else { return false }
    failedEndpoint = endpoint
    leaveEndpoint()
    return true
  }

  /// The pause is over.
  func tryAgain() {
    guard !isOver, let tries else { return }
    leaveConnection()
    guard replay() else {
      return fail(UpstreamFailure(kind: .closed, reason: "\(pool.configuration.name): the body cannot be sent again"))
    }
    head = nil
    tries.begin(request)
    pool.serve(self)
  }

  /// No answer within `per_try_timeout`.
  func tryIsLate() {
    guard !isOver, head == nil, held == nil, tries?.isHolding == false, !waitsForToken, token?.heldBack == nil else {
      return
    }
    leaveConnection()
    connectionFailed(
      nil, UpstreamFailure(kind: .timeout, reason: "\(pool.configuration.name): no answer within per_try_timeout"))
  }

  func leaveConnection() {
    if let connection {
      self.connection = nil
      connection.abandon()
    } else {
      leaveQueues()
    }
  }
}
