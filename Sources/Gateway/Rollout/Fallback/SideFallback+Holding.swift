import Bytes
import HTTP1
import HTTPModel
import RPC

/// Holds an answer that passes back for as long as it may turn out to be a failure.
///
/// Of a REST answer the status says that, so the others pass from their head on. A Connect answer says it in the body of
/// one that is not 200, gRPC and gRPC-Web at their end, so of these all is held back, up to ``maximumBody``.
extension SideFallback: AttemptOwner {
  /// Nothing of an answer may reach the caller before it is known whose it is.
  func attempt(_ attempt: Attempt, interim head: ResponseHead) {}

  func attempt(_ attempt: Attempt, head: ResponseHead) {
    let call = call
    guard phase == .ready, head.status != 101 else { return pass(attempt, head) }
    guard call.face.kind != .rest else {
      guard let code = PassThrough.outcome(ofStatus: head.status) else { return pass(attempt, head) }
      dropped = attempt
      if turns(after: Self.error(code, head.status)) { return }
      dropped = nil
      return pass(attempt, head)
    }
    if call.face.kind == .connect, head.status == 200 || head.status == 304 { return pass(attempt, head) }
    if case .length(let length) = attempt.declaredFraming, length > maximumBody {
      return pass(attempt, head, isLong: true)
    }
    let tap = ReplyTap(face: call.face)
    tap.begin(head)
    self.tap = tap
  }

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    if attempt === dropped { return drop(attempt, &buffer, count) }
    let call = call
    guard let head = attempt.head else { return buffer.consume(count) }
    if held.count + count <= maximumBody, reserve(count) {
      heldReserved += count
      if tap?.watchesBody == true { buffer.withSpan(0..<count) { tap?.observe($0) } }
      held.append(buffer, 0..<count)
      buffer.consume(count)
      return
    }
    if phase == .ready, held.count + count <= maximumBody { phase = .unable(.buffers) }
    pass(attempt, head, isLong: true)
    call.attempt(attempt, body: &buffer, count: count)
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    if attempt === dropped { return dropped = nil }
    guard let head = attempt.head else { return }
    let call = call
    heldTrailers = trailers
    defer { heldTrailers = nil }
    if let code = tap?.outcome(trailers), turns(after: Self.error(code, head.status)) { return }
    pass(attempt, head)
    call.attempt(attempt, endedWith: trailers)
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) {
    if attempt === dropped { return dropped = nil }
    tap = nil
    releaseHeld()
    call.attempt(attempt, failed: failure)
  }

  func attemptCongested(_ attempt: Attempt) {
    if attempt !== dropped { call.attemptCongested(attempt) }
  }

  func attemptDrained(_ attempt: Attempt) {
    if attempt !== dropped { call.attemptDrained(attempt) }
  }

  /// The chosen side's answer is the caller's: what is held back of it goes on, the rest as it comes.
  private func pass(_ attempt: Attempt, _ head: ResponseHead, isLong: Bool = false) {
    let call = call
    if phase == .ready { phase = isLong ? .unable(.tooLarge) : .passed }
    attempt.report(to: call)
    call.attempt(attempt, head: head)
    guard !held.isEmpty else { return }
    var beginning = ByteBuffer()
    swap(&beginning, &held)
    releaseHeld()
    call.attempt(attempt, body: &beginning, count: beginning.count)
    worker.discard(&beginning)
  }

  private func drop(_ attempt: Attempt, _ buffer: inout ByteBuffer, _ count: Int) {
    buffer.consume(count)
    droppedBytes += count
    guard droppedBytes > Self.longestDropped else { return }
    dropped = nil
    attempt.cancel()
  }

  func releaseHeld() {
    worker.discard(&held)
    worker.shared.buffers.release(heldReserved)
    heldReserved = 0
  }

  /// The comparison is about the chosen side's answer, which it would have seen on its way.
  func compareHeld() {
    guard let shadow = call.shadow, let attempt = call.attempt, let head = attempt.head, let heldTrailers else {
      return
    }
    shadow.answerBegan(head, attempt.declaredFraming)
    if !held.isEmpty { shadow.answerReceived(held, held.count) }
    shadow.answerEnded(heldTrailers)
  }

  private static func error(_ code: Code, _ status: Int) -> RPCError {
    RPCError(code, "the upstream answered with an error", httpStatus: status, logDetail: "status \(status)")
  }
}
