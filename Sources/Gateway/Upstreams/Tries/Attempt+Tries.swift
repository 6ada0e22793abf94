import Configuration
import EventLoops
import HTTP1
import HTTPModel

/// Tries beside the first one, as a ``RetryPlan`` allows them.
extension Attempt {
  /// Whether the answer that begins with this head is dropped, for another try.
  func holdsBack(_ head: ResponseHead, _ framing: BodyFraming, _ tries: Tries) -> Bool {
    guard request.isIdempotent, canReplay, let reason = tries.plan.reason(head, from: pool.configuration.protocol),
      tries.takeRetry(of: pool.state, reason, asked: RetryPlan.asked(head.fields, now: WallClock.now()))
    else { return false }
    tries.hold()
    // More of the body may come during the pause than is kept.
    if !bodyIsComplete { refused = RefusedAnswer(head, framing) }
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
    tries.failure = failure
    failedEndpoint = endpoint
    leaveEndpoint()
    return true
  }

  /// The pause is over.
  func tryAgain() {
    guard !isOver, let tries else { return }
    guard canReplay else {
      // What the last try came to is the answer.
      if refused != nil { return deliverRefused() }
      leaveConnection()
      return fail(tries.failure ?? bodyIsGone)
    }
    refused = nil
    leaveConnection()
    guard replay() else { return fail(bodyIsGone) }
    head = nil
    tries.countRetry(of: pool.state)
    tries.begin(request)
    pool.serve(self)
  }

  /// No answer within `per_try_timeout`.
  func tryIsLate() {
    guard !isOver, head == nil, held == nil, refused == nil, tries?.isHolding == false, !waitsForToken else { return }
    leaveConnection()
    connectionFailed(
      nil, UpstreamFailure(kind: .timeout, reason: "\(pool.configuration.name): no answer within per_try_timeout"))
  }

  var bodyIsGone: UpstreamFailure {
    UpstreamFailure(kind: .closed, reason: "\(pool.configuration.name): the body cannot be sent again")
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
