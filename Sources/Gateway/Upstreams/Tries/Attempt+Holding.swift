import Bytes
import EventLoops
import HTTP1
import HTTPModel
import RPC

/// Answers whose head is held back, since they may be errors that another try answers.
extension Attempt {
  /// How long the head of a stream waits for its first message: a caller may want to know that the stream has begun.
  private static let patience: Duration = .milliseconds(50)

  /// Whether the answer is held back until it is known whether it has a message.
  func awaitsEnd(_ head: ResponseHead, _ framing: BodyFraming) -> Bool {
    guard canReplay, token.map({ !$0.isReplaced }) == true || tries != nil && request.isIdempotent,
      let answer = HeldAnswer(head, framing)
    else { return false }
    held = answer
    if request.isStream { patienceTimer.schedule(after: Self.patience) }
    return true
  }

  /// The stream has begun, and nothing more has come for now.
  func patienceIsOver() {
    guard !isOver, held?.trailers == nil else { return }
    releaseHeld()
  }

  func heldReceived(_ buffer: inout ByteBuffer, _ count: Int) {
    if held?.take(&buffer, count) == false { releaseHeld() }
  }

  /// Passes on what was held back: it is the answer.
  func releaseHeld() {
    guard let answer = held else { return }
    held = nil
    if request.isStream { patienceTimer.cancel() }
    deliver(answer.head, framing: answer.framing)
    var bytes = answer.takeBytes()
    if !bytes.isEmpty, !isOver { owner?.attempt(self, body: &bytes, count: bytes.count) }
  }

  /// The held answer is whole.
  ///
  /// - Returns: whether it is not passed on, or not yet.
  func heldEnded(_ trailers: FieldBlock) -> Bool {
    guard let error = held?.error(trailers) else {
      releaseHeld()
      return false
    }
    if request.isStream { patienceTimer.cancel() }
    if error == .unauthenticated, canReplay, let token, let used = token.generation, !token.isReplaced {
      if token.resource.generation != used {
        held = nil
        connection = nil
        sendAgain()
        return true
      }
      if waitForNewerToken(than: used) {
        held?.outlive(trailers)
        connection = nil
        return true
      }
    }
    if let tries, request.isIdempotent, canReplay, let reason = tries.plan.reason(error),
      tries.takeRetry(of: pool.state, reason, asked: RetryPlan.asked(trailers, now: WallClock.now()))
    {
      if !bodyIsComplete, let held {
        refused = RefusedAnswer(held.head, held.framing, bytes: held.takeBytes(), trailers: trailers)
      }
      held = nil
      connection = nil
      tries.hold()
      failedEndpoint = endpoint
      return true
    }
    releaseHeld()
    return false
  }

  /// There is no newer token: the answer that is whole goes on as it is.
  func deliverHeldWhole() {
    guard let trailers = held?.trailers else { return }
    releaseHeld()
    if !isOver { finish(endWith: trailers) }
  }
}
