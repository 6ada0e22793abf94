import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import Metrics
import Policies

/// One exchange with one upstream: what answers a call, or a shadow.
///
/// It ends exactly once: by its answer's end, by a failure, or by ``cancel()``; afterwards it reports nothing. It goes
/// to another endpoint, or once more to the same on a fresh connection, when nothing of it can have been acted on; and
/// with a ``RetryPlan`` it is tried again as that allows, as long as nothing of an answer was passed on. Its owner hears
/// of one exchange only.
final class Attempt {
  let pool: UpstreamPool
  private(set) var request: UpstreamRequest
  private(set) var owner: (any AttemptOwner)?
  /// Where it is, or was last.
  private(set) var endpoint: EndpointPool?
  /// Where it has failed: others are preferred.
  var failedEndpoint: EndpointPool?
  /// What it is balanced by; nil: whoever has the turn.
  let key: UInt64?
  /// Set while it has a connection.
  var connection: (any UpstreamExchange)?
  var head: ResponseHead?
  /// The framing that the answer's head announces; to a HEAD that of the body which is left out.
  private(set) var declaredFraming = BodyFraming.none
  /// Connections that could not be opened.
  private var failedConnects = 0
  private var mayRetryStale = true
  private var mayRetryRefused = true
  let tries: Tries?
  /// A passing body, where it may have to be sent once more.
  private var kept: KeptBody?
  /// An answer whose head is not passed on yet.
  var held: HeldAnswer?
  private(set) lazy var patienceTimer = Timer(loop: pool.worker.loop) { [unowned self] in patienceIsOver() }
  /// An answer in whose place another try may come, of which it is not sure yet that it can be made.
  var refused: RefusedAnswer?
  /// A check of one endpoint, which goes nowhere else.
  let probed: EndpointPool?
  /// Whether the endpoint counts it among its requests.
  private var isCounted = false
  /// Whether the upstream counts it among its requests.
  private var holdsPlace = false
  private(set) var isOver = false
  /// Whether the body, if streamed, has been given whole.
  private(set) var bodyIsComplete = false
  // Unchecked, as all of this file that says so (decision 52): set, read and framed into by who calls nobody.
  /// Body bytes given before there was a connection, in their framing.
  @exclusivity(unchecked) private var pending = ByteBuffer()
  /// Whether a connection has taken bytes of the body.
  private var hasGiven = false
  /// Trailers given before there was one, where they are not part of the framing.
  private(set) var pendingTrailers: FieldBlock?
  /// Whether the owner was told to wait: a connection that is gone cannot tell it to go on, so the next one does.
  private(set) var hasPausedOwner = false
  /// With credentials that are fetched.
  @exclusivity(unchecked) var token: AttemptToken?
  /// HTTP/2 frames the bytes itself.
  private let pendingFraming: BodyFraming

  /// - Parameters:
  ///   - retries: when it is tried again; nil: only what cannot have been acted on.
  ///   - deadline: no try begins after it.
  init(
    pool: UpstreamPool, request: UpstreamRequest, owner: any AttemptOwner, retries: RetryPlan? = nil,
    deadline: Instant? = nil, key: UInt64? = nil, probing endpoint: EndpointPool? = nil
  ) {
    self.pool = pool
    self.request = request
    self.owner = owner
    self.key = key
    probed = endpoint
    pendingFraming = pool.dialect.http == .two ? .none : request.framing
    bodyIsComplete = request.isReplayable
    tries = retries.map { Tries($0, deadline: deadline, worker: pool.worker) }
    if !request.isReplayable {
      if let retries, request.isIdempotent {
        kept = KeptBody(limit: retries.body)
      } else if pool.credentials?.areFetched == true {
        kept = KeptBody(limit: KeptBody.usualLimit)
      }
    }
    tries?.attempt = self
  }

  deinit {
    // Whoever else has it may still read it.
    if isKnownUniquelyReferenced(&request) { request.lender?.give(request) }
  }

  func start() {
    if let probed {
      endpoint = probed
      return probed.probe(self)
    }
    if let limit = pool.configuration.limits.requests {
      guard pool.state.requests.take(limit: limit) else {
        let worker = pool.worker
        worker.metrics.upstreams.overflows.child([pool.configuration.name, "requests"]).add(1, shard: worker.index)
        return fail(UpstreamFailure(kind: .overloaded, reason: "\(pool.configuration.name): too many requests"))
      }
      holdsPlace = true
    }
    if let tries {
      pool.state.budget.countRequest(
        at: pool.worker.loop.now.nanoseconds / 1_000_000_000, shard: pool.worker.index)
      tries.begin(request)
    }
    if let credentials = pool.credentials { authorize(by: credentials) } else { pool.serve(self) }
  }

  // MARK: From the owner

  /// Streams body bytes: takes and consumes the first `count` of the buffer.
  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    guard !isOver else {
      buffer.consume(count)
      return
    }
    if kept?.isWhole == true { keep(buffer, count) }
    if let connection, connection.isWriting {
      hasGiven = true
      connection.send(&buffer, count)
    } else {
      BodyFramer.frame(&buffer, count, as: pendingFraming, into: &pending)
    }
  }

  private func keep(_ buffer: borrowing ByteBuffer, _ count: Int) {
    var copy = ByteBuffer()
    buffer.withSpan(0..<count) { copy.append($0) }
    kept?.keep(pool.worker) { BodyFramer.frame(&copy, count, as: pendingFraming, into: &$0) }
    if !canReplay { tries?.endPause() }
  }

  /// Ends a streamed body.
  func sendEnd(trailers: FieldBlock?) {
    guard !isOver, !bodyIsComplete else { return }
    bodyIsComplete = true
    var copied: FieldBlock?
    if pendingFraming == .none, let trailers, kept != nil || connection?.isWriting != true {
      let copy = FieldBlock()
      copy.append(contentsOf: trailers)
      copied = copy
    }
    if kept?.isWhole == true {
      kept?.keep(pool.worker) { BodyFramer.frameEnd(trailers, as: pendingFraming, into: &$0) }
      kept?.keep(trailers: copied)
    }
    if let connection, connection.isWriting {
      connection.sendEnd(trailers: trailers)
    } else {
      BodyFramer.frameEnd(trailers, as: pendingFraming, into: &pending)
      pendingTrailers = copied
    }
  }

  /// Whether an answer has come, passed on or held back.
  var hasBegunToAnswer: Bool { head != nil || held != nil || refused?.awaitsToken == true }

  /// Whether more should not be streamed until ``AttemptOwner/attemptDrained(_:)``.
  var isCongested: Bool {
    if let connection, connection.isWriting { return connection.isCongested }
    return pending.count > Watermark.high
  }

  /// Another one hears of what comes from here on.
  func report(to owner: any AttemptOwner) {
    if self.owner != nil { self.owner = owner }
  }

  func pauseReading() {
    // An answer that was held back is passed on when its exchange is over, and with it the connection.
    if !isOver { connection?.pauseReading() }
  }
  func resumeReading() { connection?.resumeReading() }

  /// Ends the attempt without a word to its owner; the connection is closed unless the exchange was over.
  func cancel() {
    guard !isOver else { return }
    let connection = connection
    end()
    owner = nil
    if let connection { connection.abandon() } else { leaveQueues() }
  }

  // MARK: From the pool and the connection

  /// The endpoint of this try.
  func begin(at endpoint: EndpointPool) {
    leaveEndpoint()
    self.endpoint = endpoint
    isCounted = true
    endpoint.health.count(1, shard: pool.worker.index)
  }

  func leaveEndpoint() {
    guard isCounted, let endpoint else { return }
    isCounted = false
    endpoint.health.count(-1, shard: pool.worker.index)
  }

  func leaveQueues() {
    endpoint?.forget(self)
    pool.forget(self)
  }

  /// A connection is ready to take the request.
  func assign(_ connection: any UpstreamExchange) {
    self.connection = connection
  }

  /// It waits for another one.
  func unassign() { connection = nil }

  /// Hands over what was streamed before the connection was there.
  func takePending(into output: inout ByteBuffer) {
    hasGiven = true
    output.take(from: &pending)
  }

  /// Whether all that was sent can be sent again.
  var canReplay: Bool { request.isReplayable || !hasGiven || kept?.isWhole == true }

  /// Puts what was sent of a streamed body before what is to be sent; false when that is not at hand.
  func replay() -> Bool {
    guard !request.isReplayable, hasGiven else { return true }
    guard let kept, kept.isWhole else { return false }
    hasGiven = false
    pending.removeAll()
    pendingTrailers = kept.replay(into: &pending)
    return true
  }

  func connectionFailed(_ connection: (any UpstreamExchange)?, _ failure: UpstreamFailure) {
    guard !isOver else { return }
    if held != nil {
      // It has begun to be answered, and what there is of that is the owner's to see.
      releaseHeld()
      if isOver { return }
    }
    self.connection = nil
    refused?.connectionEnded()
    // What waits for a newer token goes on doing so.
    if refused?.awaitsToken == true { return }
    // The pause before the next try goes on.
    if tries?.isHolding == true { return }
    if probed == nil, triesElsewhere(connection, failure) { return }
    judge(failure)
    if head == nil, triesAgain(failure) { return }
    fail(failure)
  }

  /// What cannot have been acted on goes on at once.
  private func triesElsewhere(_ connection: (any UpstreamExchange)?, _ failure: UpstreamFailure) -> Bool {
    switch failure.kind {
    case .connect, .resolve:
      failedConnects += 1
      guard failedConnects < Swift.max(2, pool.members.count) else {
        failedConnects = 0
        return false
      }
      judge(failure)
      failedEndpoint = endpoint
      pool.serve(self)
      return true
    case .closed
    where !failure.answerBegun && mayRetryStale && connection?.wasReused == true
      && canReplay && (request.isIdempotent || failure.nothingSent):
      // The backend closed an idle connection at the moment that it was taken: once more, on a fresh one.
      mayRetryStale = false
      guard replay() else { return false }
      if let endpoint, !endpoint.isRetired {
        endpoint.serve(self, onFreshConnection: true)
      } else {
        pool.serve(self)
      }
      return true
    case .refused where !failure.answerBegun && mayRetryRefused && canReplay:
      mayRetryRefused = false
      failedEndpoint = endpoint
      guard replay() else { return false }
      pool.serve(self)
      return true
    default: return false
    }
  }

  func fail(_ failure: UpstreamFailure) {
    let owner = owner
    end()
    self.owner = nil
    owner?.attempt(self, failed: failure)
  }

  /// It is over, however.
  private func end() {
    isOver = true
    connection = nil
    leaveEndpoint()
    tries?.end()
    kept?.forget(pool.worker)
    refused = nil
    if held != nil {
      held = nil
      if request.isStream { patienceTimer.cancel() }
    }
    if holdsPlace {
      holdsPlace = false
      pool.state.requests.giveBack()
    }
  }

  // MARK: The answer

  func received(interim head: ResponseHead) { owner?.attempt(self, interim: head) }

  func received(_ head: ResponseHead, framing: BodyFraming) {
    if pool.rules != nil { judge(head) }
    if token != nil, replacesToken(refusedBy: head, framing) { return }
    if let tries, holdsBack(head, framing, tries) { return }
    if tries != nil || token != nil, awaitsEnd(head, framing) { return }
    deliver(head, framing: framing)
  }

  /// The answer is passed on.
  func deliver(_ head: ResponseHead, framing: BodyFraming) {
    self.head = head
    declaredFraming = framing
    tries?.settle()
    kept?.forget(pool.worker)
    owner?.attempt(self, head: head)
  }

  func received(_ buffer: inout ByteBuffer, _ count: Int) {
    if let refused {
      if !refused.take(&buffer, count) { pauseReading() }
      return
    }
    if let tries, tries.isHolding {
      buffer.consume(count)
      if !tries.drop(count) { leaveConnection() }
      return
    }
    if held != nil { return heldReceived(&buffer, count) }
    guard let owner else {
      buffer.consume(count)
      return
    }
    owner.attempt(self, body: &buffer, count: count)
  }

  /// The answer is whole; the connection is still held, so that ``head`` can be read.
  func received(endWith trailers: FieldBlock) {
    guard !isOver else { return }
    if refused != nil || tries?.isHolding == true {
      refused?.end(trailers)
      connection = nil
      return
    }
    if pool.rules != nil { judge(end: trailers) }
    if held != nil, heldEnded(trailers) || isOver { return }
    finish(endWith: trailers)
  }

  func finish(endWith trailers: FieldBlock) {
    let (owner, connection) = (owner, connection)
    end()
    self.connection = connection
    self.owner = nil
    owner?.attempt(self, endedWith: trailers)
    self.connection = nil
  }

  var pipe: SplicePipe? { tries?.isHolding == true || held != nil || refused != nil ? nil : owner?.pipe(for: self) }
  func piped(_ count: Int) { owner?.attempt(self, piped: count) }
  func congested() {
    hasPausedOwner = true
    owner?.attemptCongested(self)
  }

  func drained() {
    hasPausedOwner = false
    owner?.attemptDrained(self)
  }
}
