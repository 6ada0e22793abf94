import Bytes
import EventLoops
import HTTPModel

/// Who an attempt reports to: the call that it answers, or the observer of a shadow.
protocol AttemptOwner: AnyObject {
  /// An interim answer other than 100 and 101.
  func attempt(_ attempt: Attempt, interim head: ResponseHead)
  /// The final head. It stays readable until the attempt has ended.
  func attempt(_ attempt: Attempt, head: ResponseHead)
  /// The first `count` bytes of the buffer are body; the owner takes and consumes exactly these.
  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int)
  /// The answer is whole.
  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock)
  /// There will be no more; the attempt is over.
  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure)
  /// A pipe for the rest of a long body that nobody has to see; nil when its bytes must come as bytes.
  func pipe(for attempt: Attempt) -> SplicePipe?
  /// So many body bytes were put into the pipe.
  func attempt(_ attempt: Attempt, piped count: Int)
  /// The upstream takes no more for now.
  func attemptCongested(_ attempt: Attempt)
  /// What was streamed has left; more may follow.
  func attemptDrained(_ attempt: Attempt)
}

extension AttemptOwner {
  func pipe(for attempt: Attempt) -> SplicePipe? { nil }
  func attempt(_ attempt: Attempt, piped count: Int) {}
}
