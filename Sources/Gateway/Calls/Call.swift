import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import ProtobufSchema
import REST
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
    /// The messages of a stream go on one by one.
    case relaying
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
  // Unchecked, as all of this file that says so (decision 52): set and read as a whole, never lent.
  /// Ranges into the path, one for each capture of the matched template; until the call has ended.
  @exclusivity(unchecked) private(set) var captures: [Range<Int>]
  var client: (any ClientStream)?

  var state = State.entering
  var chain: InterceptorChain
  /// Found before the chain and answered after it, so that interceptors see every call.
  var pendingError: RPCError?

  let startedAt: Instant
  /// The client's address where it is not the peer's: the peer is a proxy that is trusted.
  var forwardedAddress: SocketAddress?
  /// Nil where only a standstill ends it.
  var deadline: Instant?
  var decision: StageDecision?
  /// The upstream of ``RouteDecision/fallback(upstream:)``.
  let fallbackUpstream: Int?
  var attempt: Attempt?
  var upstreamName = ""
  var attemptStartedAt: Instant?
  @exclusivity(unchecked) var backend: (any Backend)?
  var relay: StreamRelay?
  /// How a REST caller's stream is read and written.
  var restStream: RESTStream?
  /// Which of the route's bindings a REST backend was asked by.
  var restBinding = 0

  // What is gathered.
  /// Bytes of the greatest bodies that are gathered.
  private(set) var requestLimit = 0
  private(set) var replyLimit = 0
  var requestBody = ByteBuffer()
  var replyBody = ByteBuffer()
  var reserved = 0
  /// Of an answer that is translated.
  var replyMetadata: FieldBlock {
    if let replyMetadataFields { return replyMetadataFields }
    let taken = worker.takeFields()
    replyMetadataFields = taken
    return taken
  }
  var replyTrailers: FieldBlock {
    if let replyTrailerFields { return replyTrailerFields }
    let taken = worker.takeFields()
    replyTrailerFields = taken
    return taken
  }
  @exclusivity(unchecked) private var replyMetadataFields: FieldBlock?
  @exclusivity(unchecked) private var replyTrailerFields: FieldBlock?

  /// Nobody asks for what the request and its answer said any more.
  func forgetFields() {
    // Of a call that is explained, the explanation does.
    if !isExplained { worker.router.give(&captures) }
    worker.give(&replyMetadataFields)
    worker.give(&replyTrailerFields)
  }
  /// Whether the upstream's answer is what is being read now, so that its faults are not the client's.
  var isReplying = false
  /// The codec that the caller reads: that of its request.
  var replyCodec = MessageCodec.proto
  var tap: ReplyTap?
  /// Of an answer that passes and is compressed on its way.
  var passingCompressor: PassingCompressor?

  // Raw bodies on their way through.
  /// Whether the request's body follows the beginning of its message.
  var isUploading = false
  /// How the answer is read as it comes, as long as that is open.
  var rawReply: RawReply?
  var download: RawDownload?

  /// The copy that goes to the other side, until the call has ended.
  var shadow: Shadow?
  /// With which the call can be asked again on the other side; nil: it is for the chosen one alone.
  var fallback: SideFallback?
  /// Whether this is such a copy: nobody waits for its answer, and it counts nothing.
  var isCopy = false
  /// Of a copy: `limits.buffers` had no room for it, so what went wrong with it says nothing of the sides.
  var lackedRoom = false

  /// What was left out because it is only to be explained.
  var omissions: [String] = []
  /// Takes the upstream request in place of an attempt: `turnout explain` calls nobody.
  var onRequest: ((UpstreamRequest, UpstreamConfiguration) -> Void)?

  /// Who calls, once an interceptor has found out.
  var identity: VerifiedToken?

  // How it went, for interceptors, metrics and logs.
  var sentHead = false
  var status = 0
  /// Nil: ok.
  var outcome: Code?
  var error: RPCError?
  /// Paths of JSON members that the schema lacks, of a route that reports them.
  var unknownFields: [String] = []
  var receivedBytes = 0
  var sentBytes = 0

  /// Nil: nobody traces it.
  var trace: CallTrace?

  // What limits keep of it.
  /// Bytes of an answer that passes, as its upstream sent them; counted where there is a limit.
  var passedBytes = 0
  /// Of a stream that passes.
  var requestMeter: EnvelopeMeter?
  var replyMeter: EnvelopeMeter?
  /// What tells the caller that `api_key` let through from others: its owner, or the key itself, which is never shown.
  var apiKey: [UInt8]?
  /// For the answer of a limit that tells how it stands.
  var rateLimit: RateLimitNote?
  /// Whether a limit on trial would have refused it.
  var wouldBeRateLimited = false
  /// Those of concurrency limits, the innermost last.
  var permits: [ConcurrencyPermit] = []

  init(
    worker: Worker, plans: LoopSnapshot, route: RouteState?, face: any Face, client: (any ClientStream)?,
    head: RequestHead, options: ConnectionOptions, framing: BodyFraming, captures: [Range<Int>],
    fallbackUpstream: Int?
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
    startedAt = worker.loop.now
    let unrouted = fallbackUpstream == nil ? nil : plans.snapshot.fallback?.interceptors
    chain = InterceptorChain(route?.plan.interceptors ?? unrouted ?? plans.snapshot.interceptors)
  }

  var hasRequestBody: Bool { requestFraming != .none && requestFraming != .length(0) }
  /// Whether a body that the head promises may have no byte: over HTTP/2 an empty frame behind the head can end it.
  var mayTurnOutEmpty: Bool {
    if case .length = requestFraming { return false }
    return head.version == .http2
  }
  var isStreamingRoute: Bool { route?.plan.isStreaming ?? false }
  /// Whether the request body is gathered, so that its whole arrival has a bound.
  var buffersRequest: Bool { state == .gathering }
  /// Whether its caller may send messages whenever there is one, so that no rate is asked of the body.
  var mayPause: Bool { route?.plan.type.isClientStreaming ?? false }
  /// Whether `turnout explain` wants to know what would become of it.
  var isExplained: Bool { onRequest != nil }

  /// For the head that is sent upstream: what is left of the deadline, at least 1.
  var millisecondsLeft: Int? {
    guard let deadline else { return nil }
    return Swift.max(1, Int(clamping: deadline.nanoseconds(since: worker.loop.now) / 1_000_000))
  }

  /// Whether no more is left of the deadline than an upstream, which was told whole milliseconds, may be ahead.
  var isAtDeadline: Bool {
    guard let deadline else { return false }
    return deadline - worker.loop.now <= .milliseconds(1)
  }

  // MARK: Beginning

  func begin() {
    readForwarded()
    plans.snapshot.identityFields?.remove(from: head.fields)
    setDeadline()
    proceed()
  }

  private func setDeadline() {
    do {
      try face.checkHead(self)
      let own = try face.timeout(self)
      let configured = isStreamingRoute ? nil : route?.plan.timeout
      guard let shortest = own ?? configured else { return }
      deadline = startedAt + Swift.min(shortest, configured ?? shortest)
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
      case .answer(let status):
        answer(status: status)
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
    case .answer(let status): answer(status: status)
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
      plans.snapshot.sideHeaders?.remove(from: head.fields)
      pass(to: fallbackUpstream)
      return
    }
    let decision = StageDecision.make(for: self, route.plan)
    plans.snapshot.sideHeaders?.remove(from: head.fields)
    self.decision = decision
    guard let upstream = route.plan.upstream(of: decision.side) else {
      fail(RPCError(.unavailable, "no upstream is configured for stage \(decision.stage.rawValue)"))
      return
    }
    if decision.shadows || route.plan.mayCopy, onRequest == nil {
      // Before anything changes the head on its way.
      shadow = Shadow.begin(for: self, route, decision)
    }
    if let plan = route.plan.fallback { fallback = SideFallback.begin(for: self, route.plan, plan, decision) }
    do {
      // Not out of the snapshot's list: that would be a copy of it, with all that it holds.
      let pool = plans.pool(upstream)
      // A GET with a body passes nowhere: it is seen first whether there is one.
      let mayPass = face.request != .connectGet || !hasRequestBody
      if mayPass, try face.agrees(with: pool.dialect, self) {
        pass(to: upstream)
        if !hasRequestBody { shadow?.launch(from: self) }
      } else {
        try translate(route, to: upstream, pool.dialect)
      }
    } catch {
      failAsking(error)
    }
  }

  private func translate(
    _ route: RouteState, to upstream: Int, _ dialect: UpstreamDialect
  ) throws(RPCError) {
    let backend = route.backend(of: upstream, dialect)
    if isStreamingRoute {
      guard let caller = face.stream, let answering = backend.stream else {
        throw RPCError(.unimplemented, "the method streams, and the call is none of a stream")
      }
      guard caller.gathersRequest(self) else { return try relay(caller, answering, to: upstream) }
    }
    answers(through: backend)
    if !isStreamingRoute, try beginRawUpload(to: upstream) {
      shadow?.skip(.tooLarge)
      return
    }
    state = .gathering
    if case .length(let length) = requestFraming, length > requestLimit { throw tooLarge() }
    client?.startReceiving()
    if !hasRequestBody { try ask() }
  }

  /// The side that is asked is read by this backend.
  func answers(through backend: any Backend) {
    self.backend = backend
    requestLimit = face.bodyLimit(requestMessageLimit)
    replyLimit = backend.bodyLimit(replyMessageLimit)
  }
}
