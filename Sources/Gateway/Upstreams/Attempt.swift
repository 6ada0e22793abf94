import Bytes
import Configuration
import EventLoops
import HTTP1
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

/// One exchange with one upstream: a first try, a retry, or a shadow.
///
/// It ends exactly once: by its answer's end, by a failure, or by ``cancel()``; afterwards it reports nothing. It goes
/// to another endpoint, or once more to the same on a fresh connection, only when nothing of it can have been acted on.
final class Attempt {
  let pool: UpstreamPool
  let request: UpstreamRequest
  private(set) var owner: (any AttemptOwner)?
  /// Set while it has a connection.
  var connection: (any UpstreamExchange)?
  private(set) var head: ResponseHead?
  /// The framing that the answer's head announces; to a HEAD that of the body which is left out.
  private(set) var declaredFraming = BodyFraming.none
  private var connectsLeft: Int
  private var mayRetryStale = true
  private var mayRetryRefused = true
  private(set) var isOver = false
  /// Whether the body, if streamed, has been given whole.
  private(set) var bodyIsComplete = false
  /// Body bytes given before there was a connection, in their framing.
  private var pending = ByteBuffer()
  /// Trailers given before there was one, where they are not part of the framing.
  private(set) var pendingTrailers: FieldBlock?
  /// With credentials that are fetched.
  var token: AttemptToken?
  /// HTTP/2 frames the bytes itself.
  private let pendingFraming: BodyFraming

  init(pool: UpstreamPool, request: UpstreamRequest, owner: any AttemptOwner) {
    self.pool = pool
    self.request = request
    self.owner = owner
    pendingFraming = pool.configuration.http == .two ? .none : request.framing
    connectsLeft = Swift.max(2, pool.endpoints.count)
    bodyIsComplete = request.isReplayable
  }

  func start() {
    if let credentials = pool.credentials { authorize(by: credentials) } else { pool.serve(self) }
  }

  // MARK: From the owner

  /// Streams body bytes: takes and consumes the first `count` of the buffer.
  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    guard !isOver else {
      buffer.consume(count)
      return
    }
    if let connection, connection.isWriting {
      connection.send(&buffer, count)
    } else {
      BodyFramer.frame(&buffer, count, as: pendingFraming, into: &pending)
    }
  }

  /// Ends a streamed body.
  func sendEnd(trailers: FieldBlock?) {
    guard !isOver, !bodyIsComplete else { return }
    bodyIsComplete = true
    if let connection, connection.isWriting {
      connection.sendEnd(trailers: trailers)
    } else {
      BodyFramer.frameEnd(trailers, as: pendingFraming, into: &pending)
      if pendingFraming == .none, let trailers {
        let kept = FieldBlock()
        kept.append(contentsOf: trailers)
        pendingTrailers = kept
      }
    }
  }

  /// Whether more should not be streamed until ``AttemptOwner/attemptDrained(_:)``.
  var isCongested: Bool {
    if let connection, connection.isWriting { return connection.isCongested }
    return pending.count > Watermark.high
  }

  func pauseReading() { connection?.pauseReading() }
  func resumeReading() { connection?.resumeReading() }

  /// Ends the attempt without a word to its owner; the connection is closed unless the exchange was over.
  func cancel() {
    guard !isOver else { return }
    isOver = true
    owner = nil
    if let connection {
      self.connection = nil
      connection.abandon()
    } else {
      pool.forget(self)
    }
  }

  // MARK: From the pool and the connection

  /// A connection is ready to take the request.
  func assign(_ connection: any UpstreamExchange) {
    self.connection = connection
  }

  /// It waits for another one.
  func unassign() { connection = nil }

  /// Hands over what was streamed before the connection was there.
  func takePending(into output: inout ByteBuffer) {
    output.take(from: &pending)
  }

  func connectionFailed(_ connection: (any UpstreamExchange)?, _ failure: UpstreamFailure) {
    guard !isOver else { return }
    self.connection = nil
    switch failure.kind {
    case .connect, .resolve:
      connectsLeft -= 1
      if connectsLeft > 0 {
        pool.serve(self)
        return
      }
    case .closed
    where !failure.answerBegun && mayRetryStale && connection?.wasReused == true
      && request.isReplayable && (request.isIdempotent || failure.nothingSent):
      // The backend closed an idle connection at the moment that it was taken: once more, on a fresh one.
      mayRetryStale = false
      pool.serve(self, onFreshConnection: true)
      return
    case .refused where !failure.answerBegun && mayRetryRefused && request.isReplayable:
      mayRetryRefused = false
      pool.serve(self)
      return
    default: break
    }
    isOver = true
    let owner = owner
    self.owner = nil
    owner?.attempt(self, failed: failure)
  }

  func received(interim head: ResponseHead) { owner?.attempt(self, interim: head) }

  func received(_ head: ResponseHead, framing: BodyFraming) {
    if token != nil, replacesToken(refusedBy: head, framing) { return }
    deliver(head, framing: framing)
  }

  func deliver(_ head: ResponseHead, framing: BodyFraming) {
    self.head = head
    declaredFraming = framing
    owner?.attempt(self, head: head)
  }

  func received(_ buffer: inout ByteBuffer, _ count: Int) {
    guard let owner else {
      buffer.consume(count)
      return
    }
    owner.attempt(self, body: &buffer, count: count)
  }

  /// The answer is whole; the connection is still held, so that ``head`` can be read.
  func received(endWith trailers: FieldBlock) {
    guard !isOver else { return }
    isOver = true
    let owner = owner
    self.owner = nil
    owner?.attempt(self, endedWith: trailers)
    connection = nil
  }

  var pipe: SplicePipe? { owner?.pipe(for: self) }
  func piped(_ count: Int) { owner?.attempt(self, piped: count) }
  func congested() { owner?.attemptCongested(self) }
  func drained() { owner?.attemptDrained(self) }
}
