import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC

/// One request of one client, from its head to the last byte of its answer.
///
/// A call lives on one loop and ends exactly once: by its answer, by an error, or because the client left. It goes
/// through its interceptors, then its stage chooses the answering side, then it either passes through (bytes go on
/// untouched, with back-pressure) or is translated (the message is gathered, turned, sent; the same on the way back).
/// What belongs to a protocol is in the ``Face`` and the ``Backend``.
final class Call {
  enum State {
    /// In the interceptors; nothing of the body was read.
    case entering
    /// An interceptor will say later.
    case waiting
    /// The request message is being gathered.
    case gathering
    /// An upstream was asked for a translated answer.
    case asked
    /// Bytes pass through.
    case passing
    case ended
  }

  let worker: Worker
  let plans: LoopSnapshot
  /// Nil for what no route matches.
  let route: RouteState?
  let face: any Face
  let head: RequestHead
  let options: ConnectionOptions
  let requestFraming: BodyFraming
  /// Ranges into the path, one for each capture of the matched template.
  let captures: [Range<Int>]
  private(set) var client: (any ClientStream)?

  private(set) var state = State.entering
  var chain: InterceptorChain
  /// Found before the chain and answered after it, so that interceptors see every call.
  private var pendingError: RPCError?

  let startedAt: Instant
  /// Nil where only a standstill ends it.
  private(set) var deadline: Instant?
  private(set) var decision: StageDecision?
  /// The upstream of ``RouteDecision/fallback(upstream:)``.
  let fallbackUpstream: Int?
  private(set) var attempt: Attempt?
  private(set) var upstreamName = ""
  private var attemptStartedAt: Instant?
  private var backend: (any Backend)?

  // What is gathered.
  private var requestBody = ByteBuffer()
  private var replyBody = ByteBuffer()
  private var reserved = 0
  let replyMetadata = FieldBlock()
  let replyTrailers = FieldBlock()
  /// Whether the upstream's answer is what is being read now, so that its faults are not the client's.
  private(set) var isReplying = false
  /// The codec that the caller reads: that of its request.
  private(set) var replyCodec = MessageCodec.proto
  private var tap: ReplyTap?

  /// Takes the upstream request in place of an attempt: `turnout explain` calls nobody.
  var onRequest: ((UpstreamRequest, UpstreamConfiguration) -> Void)?

  // How it went, for interceptors, metrics and logs.
  private(set) var sentHead = false
  private(set) var status = 0
  /// Nil: ok.
  private(set) var outcome: Code?
  private(set) var error: RPCError?
  private(set) var receivedBytes = 0
  private(set) var sentBytes = 0

  init(
    worker: Worker, plans: LoopSnapshot, route: RouteState?, face: any Face, client: any ClientStream,
    head: RequestHead, options: ConnectionOptions, framing: BodyFraming, captures: [Range<Int>],
    fallbackUpstream: Int?, refusal: RPCError?
  ) {
    self.worker = worker
    self.plans = plans
    self.route = route
    self.face = face
    self.client = client
    self.head = head
    self.options = options
    self.captures = captures
    self.fallbackUpstream = fallbackUpstream
    requestFraming = framing
    pendingError = refusal
    startedAt = worker.loop.now
    chain = InterceptorChain(route?.plan.interceptors ?? plans.snapshot.interceptors)
  }

  var hasRequestBody: Bool { requestFraming != .none && requestFraming != .length(0) }
  var isStreamingRoute: Bool { route?.plan.isStreaming ?? false }
  /// Whether the request body is gathered, so that its whole arrival has a bound.
  var buffersRequest: Bool { state == .gathering }
  var remoteAddress: SocketAddress? { client?.remoteAddress }

  /// For the head that is sent upstream: what is left of the deadline, at least 1.
  var millisecondsLeft: Int? {
    guard let deadline else { return nil }
    let left = deadline - worker.loop.now
    let (seconds, attoseconds) = left.components
    return Swift.max(1, Int(clamping: seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000))
  }

  // MARK: Beginning

  func begin() {
    setDeadline()
    proceed()
  }

  private func setDeadline() {
    do {
      try face.checkHead(self)
      let own = try face.timeout(self)
      let configured = isStreamingRoute ? nil : route?.plan.settings.timeout
      if let shortest = [own, configured].compactMap(\.self).min() { deadline = startedAt + shortest }
    } catch {
      pendingError = pendingError ?? error
    }
  }

  private func proceed() {
    while let interceptor = chain.next() {
      switch interceptor.onCall(self) {
      case .proceed: continue
      case .refuse(let error):
        fail(error)
        return
      case .wait:
        if state == .entering { state = .waiting }
        return
      }
    }
    state = .entering
    if let pendingError { fail(pendingError) } else { decide() }
  }

  /// An interceptor that answered ``InterceptorVerdict/wait`` has made up its mind. On the call's own loop.
  func resume(_ verdict: InterceptorVerdict) {
    guard state == .waiting else { return }
    switch verdict {
    case .proceed:
      state = .entering
      proceed()
    case .refuse(let error): fail(error)
    case .wait: break
    }
  }

  /// Chooses the side, once, and how the call gets there.
  private func decide() {
    guard let route else {
      guard let fallbackUpstream else {
        fail(RPCError(.notFound, "no route", httpStatus: 404))
        return
      }
      pass(to: fallbackUpstream)
      return
    }
    let decision = StageDecision(route.plan.stage.stage)
    self.decision = decision
    guard let upstream = route.plan.upstream(of: decision.side) else {
      fail(RPCError(.unavailable, "no upstream is configured for stage \(decision.stage.rawValue)"))
      return
    }
    if decision.shadows { ShadowObserver.launch(for: self, route: route) }
    do {
      if try passesThrough(route.plan, decision.side, upstream) {
        pass(to: upstream)
      } else {
        try translate(route.plan, decision.side, upstream)
      }
    } catch {
      fail(error)
    }
  }

  /// Whether both sides agree on protocol and codec.
  private func passesThrough(_ route: Route, _ side: StageDecision.Side, _ upstream: Int) throws(RPCError) -> Bool {
    switch (face.kind, side) {
    case (.rest, .rest): return true
    case (.connect, .rpc):
      guard let face = face as? ConnectFace else { return false }
      let codec: MessageCodec = plans.snapshot.upstreams[upstream].codec == .json ? .json : .proto
      switch face.request {
      case .connectStreaming: return true
      case .connectUnary(let own): return own == codec
      case .connectGet:
        var message = ByteBuffer()
        let query = try head.withQuery { (query) throws(RPCError) in
          try ConnectGetQuery.parse(query, message: &message)
        }
        _ = try coding(named: query.compression)
        return query.codec == codec
      default: return false
      }
    default: return false
    }
  }

  private func translate(_ route: Route, _ side: StageDecision.Side, _ upstream: Int) throws(RPCError) {
    guard !route.isStreaming else {
      throw RPCError(.unimplemented, "a streaming method cannot be translated between REST and RPC yet")
    }
    backend =
      side == .rest
      ? RESTBackend(route: route) : ConnectBackend(route: route, upstream: plans.snapshot.upstreams[upstream])
    state = .gathering
    if case .length(let length) = requestFraming, length > worker.limits.message { throw tooLarge() }
    client?.startReceiving()
    if !hasRequestBody, requestFraming == .none { try ask() }
  }

  // MARK: The request's body

  /// Takes and consumes the first `count` bytes of the buffer.
  func received(_ buffer: inout ByteBuffer, _ count: Int) {
    receivedBytes += count
    switch state {
    case .passing:
      guard let attempt else { return buffer.consume(count) }
      attempt.send(&buffer, count)
      if attempt.isCongested { client?.pauseReceiving() }
    case .gathering:
      guard requestBody.count + count <= worker.limits.message else {
        buffer.consume(count)
        fail(tooLarge())
        return
      }
      guard reserve(count) else { return buffer.consume(count) }
      BodyFramer.frame(&buffer, count, as: .none, into: &requestBody)
    case .entering, .waiting, .asked, .ended: buffer.consume(count)
    }
  }

  func receivedEnd(_ trailers: FieldBlock) {
    switch state {
    case .passing: attempt?.sendEnd(trailers: trailers.isEmpty ? nil : trailers)
    case .gathering:
      do { try ask() } catch { fail(error) }
    case .entering, .waiting, .asked, .ended: break
    }
  }

  /// The request message is whole: reads it, and asks the backend.
  private func ask() throws(RPCError) {
    guard let backend, let decision, let index = route?.plan.upstream(of: decision.side) else { return }
    let payload = try requestPayload()
    replyCodec = payload.codec
    let request = UpstreamRequest()
    try backend.encodeRequest(self, payload, into: request)
    try checkBudget()
    state = .asked
    start(request, upstream: index)
  }

  /// The request message as the face reads it.
  func requestPayload() throws(RPCError) -> Payload {
    let coding = try requestCoding()
    guard coding != .identity, !requestBody.isEmpty else {
      return try requestBody.withSpan { (body) throws(RPCError) in try face.decodeRequest(self, body: body) }
    }
    var plain = ByteBuffer()
    try requestBody.withSpan { (body) throws(RPCError) in try decompress(body, as: coding, into: &plain) }
    return try face.decodeRequest(self, body: plain.span)
  }

  private func checkBudget() throws(RPCError) {
    guard state != .ended else { throw RPCError(.canceled, "the call is over") }
  }

  // MARK: Passing through

  private func pass(to upstream: Int) {
    let request = PassThrough.request(for: self, upstream: plans.snapshot.upstreams[upstream])
    state = .passing
    if route == nil || face.kind == .connect && plans.snapshot.upstreams[upstream].protocol == .connect {
      tap = ReplyTap(face: face)
    }
    start(request, upstream: upstream)
    guard state == .passing else { return }
    client?.startReceiving()
  }

  private func start(_ request: UpstreamRequest, upstream: Int) {
    if let onRequest {
      onRequest(request, plans.snapshot.upstreams[upstream])
      return
    }
    let pool = plans.pool(upstream)
    upstreamName = pool.configuration.name
    let attempt = Attempt(pool: pool, request: request, owner: self)
    self.attempt = attempt
    attemptStartedAt = worker.loop.now
    attempt.start()
  }

  // MARK: Budget

  /// Counts buffered bytes against `limits.buffers`; false when the call was ended because there is no room.
  private func reserve(_ bytes: Int) -> Bool {
    guard worker.shared.buffers.reserve(bytes, limit: worker.limits.buffers) else {
      fail(RPCError(.unavailable, "too many messages are buffered at this moment", headers: [("retry-after", "1")]))
      return false
    }
    reserved += bytes
    return true
  }

  private func tooLarge() -> RPCError {
    RPCError(
      .resourceExhausted, "the message is larger than the limit of \(worker.limits.message) bytes",
      httpStatus: face.kind == .rest ? 413 : nil)
  }
}

// MARK: - The answer

extension Call: AttemptOwner {
  func attempt(_ attempt: Attempt, interim head: ResponseHead) {
    if state == .passing, face.kind == .rest { client?.sendInterim(head) }
  }

  func attempt(_ attempt: Attempt, head: ResponseHead) {
    guard state == .passing else { return }
    if head.status == 101 {
      openTunnel(head)
      return
    }
    if head.status == 304, face.kind == .connect, self.head.method != .get, self.head.method != .head {
      // Only a GET can be answered with "not modified".
      fail(RPCError(.unknown, "the upstream answered with status 304"))
      return
    }
    status = head.status
    if face.kind == .rest { deadline = nil }
    PassThrough.prepareReply(head, for: self)
    tap?.begin(head)
    if tap == nil { outcome = PassThrough.outcome(ofStatus: head.status) }
    leaveWithReply()
    sentHead = true
    client?.sendHead(status: head.status, fields: head.fields, framing: attempt.declaredFraming, endsCall: false)
  }

  private func openTunnel(_ head: ResponseHead) {
    status = 101
    sentHead = true
    deadline = nil
    head.fields.append(.connection, "upgrade")
    leaveWithReply()
    client?.sendHead(status: 101, fields: head.fields, framing: .none, endsCall: false)
    client?.becomeTunnel()
  }

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    switch state {
    case .passing:
      sentBytes += count
      if tap != nil { buffer.withSpan(0..<count) { tap?.observe($0) } }
      client?.sendBody(&buffer, count)
      if client?.isCongested == true { attempt.pauseReading() }
    case .asked:
      guard replyBody.count + count <= worker.limits.message else {
        buffer.consume(count)
        fail(UpstreamFailure(kind: .tooLarge, reason: "over limits.message").callError)
        return
      }
      guard reserve(count) else { return buffer.consume(count) }
      BodyFramer.frame(&buffer, count, as: .none, into: &replyBody)
    case .entering, .waiting, .gathering, .ended: buffer.consume(count)
    }
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    observeAttempt()
    switch state {
    case .passing:
      if let tap { outcome = tap.outcome() }
      client?.sendEnd(trailers: trailers.isEmpty ? nil : trailers)
      finish()
    case .asked:
      guard let head = attempt.head else { return }
      do { try answer(head) } catch { fail(error) }
    case .entering, .waiting, .gathering, .ended: break
    }
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) {
    observeAttempt()
    worker.metrics.upstreamFailed(upstreamName, failure.kind, shard: worker.index)
    fail(failure.callError)
  }

  func attemptDrained(_ attempt: Attempt) {
    client?.resumeReceiving()
  }

  private func observeAttempt() {
    guard let attemptStartedAt else { return }
    self.attemptStartedAt = nil
    worker.observeUpstream(upstreamName, route, worker.loop.now - attemptStartedAt)
  }

  /// Reads a translated answer and writes it in the caller's protocol.
  private func answer(_ head: ResponseHead) throws(RPCError) {
    guard let backend else { return }
    isReplying = true
    let payload = Payload()
    let coding = try replyCoding(head)
    if coding == .identity || replyBody.isEmpty {
      try replyBody.withSpan { (body) throws(RPCError) in
        try backend.decodeReply(self, head, body: body, into: payload)
      }
    } else {
      var plain = ByteBuffer()
      try replyBody.withSpan { (body) throws(RPCError) in try decompressReply(body, as: coding, into: &plain) }
      try backend.decodeReply(self, head, body: plain.span, into: payload)
    }
    let answer = worker.answer
    answer.removeAll()
    try face.encodeReply(self, payload, into: answer)
    send(answer)
    finish()
  }

  private func send(_ answer: Answer) {
    status = answer.status
    sentHead = true
    leaveWithReply(answer.fields)
    let framing: BodyFraming = answer.status == 204 || answer.status == 304 ? .none : .length(answer.body.count)
    sentBytes += answer.body.count
    client?.sendHead(status: answer.status, fields: answer.fields, framing: framing, endsCall: true)
    client?.sendBody(&answer.body, answer.body.count)
  }

  /// Innermost first, before the head goes out.
  private func leaveWithReply(_ fields: FieldBlock? = nil) {
    for interceptor in chain.leaving { interceptor.onReply(self) }
  }

  // MARK: Ending

  /// Ends the call with an error in the caller's protocol; if an answer has begun, the exchange is cut.
  func fail(_ error: RPCError) {
    guard state != .ended else { return }
    self.error = error
    outcome = error.code
    attempt?.cancel()
    observeAttempt()
    if sentHead {
      let client = client
      finish(tellsClient: false)
      client?.abort()
      return
    }
    let answer = worker.answer
    answer.removeAll()
    face.encodeError(self, error, into: answer)
    send(answer)
    finish()
  }

  private func finish(tellsClient: Bool = true) {
    guard state != .ended else { return }
    state = .ended
    attempt = nil
    worker.shared.buffers.release(reserved)
    reserved = 0
    for interceptor in chain.end() { interceptor.onEnd(self) }
    worker.callEnded(self)
    let client = client
    self.client = nil
    if tellsClient { client?.callEnded() }
  }

  /// The client left: what answers is cancelled; a shadow goes on.
  func clientLeft() {
    guard state != .ended else { return }
    outcome = .canceled
    if status == 0 { status = 499 }
    attempt?.cancel()
    observeAttempt()
    finish(tellsClient: false)
  }

  /// The client's bytes stopped being HTTP in the middle of the body.
  func clientBroke(_ error: RPCError) { fail(error) }

  func clientDrained() { attempt?.resumeReading() }

  func deadlinePassed() { fail(RPCError(.deadlineExceeded, "the deadline passed")) }

  func stalled() { fail(RPCError(.deadlineExceeded, "nothing moved for longer than timeouts.stream_idle")) }
}
