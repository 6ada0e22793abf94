import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import Metrics
import Migration
import RPC

/// A detached attempt: a copy of a call that goes to the other backend while the first one answers, and whose answer is
/// compared with what the caller got.
///
/// It has a byte and a time budget of its own, and outlives the caller. Nothing of it reaches the client. The answering
/// side is not held up: what passes through is copied on its way, bounded, and read only when the caller has it all.
///
/// A dry run is the same without anybody being asked: it says what translation would refuse.
final class Shadow {
  enum Purpose {
    /// The copy goes to this side.
    case copy(side: StageDecision.Side, upstream: Int)
    case dryRun
  }

  let worker: Worker
  let route: RouteState
  let state: ShadowState
  let purpose: Purpose
  /// Translates the request for the other side, and reads both answers.
  let copy: Call
  /// Who answers the call itself.
  let answering: Int?

  /// The call's own answer, when there is one.
  var answer: ShadowAnswer?
  /// Of an answer that passes through: what is copied of it.
  var tapped: TappedAnswer?
  /// Paths of members of the answer that the schema lacks, where the call itself read it.
  var unknown: [String] = []
  /// The copy's.
  var other: ShadowAnswer?
  var attempt: Attempt?
  /// Nil where nobody records it.
  private var span: CopySpan?
  var received = ByteBuffer()
  lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }
  private var isLaunched = false
  private var isCallOver = false
  private(set) var isSettled = false
  private var isClosed = false
  private var reserved = 0

  init(_ call: Call, _ route: RouteState, _ state: ShadowState, _ purpose: Purpose) {
    worker = call.worker
    self.route = route
    self.state = state
    self.purpose = purpose
    copy = call.detached()
    answering = call.decision.flatMap { route.plan.upstream(of: $0.side) }
  }

  /// Tells a backend that it is asked for comparison only; taken out of clients' requests.
  static let mark: StaticString = "x-turnout-shadow"

  var settings: RouteSettings.Shadow { route.plan.settings.shadow }

  // MARK: The request

  /// Takes a copy of body bytes that pass through.
  func received(_ buffer: borrowing ByteBuffer, _ count: Int) {
    guard !isSettled else { return }
    guard copy.requestBody.count + count <= settings.maxBody else { return skip(.tooLarge) }
    guard claim(count) else { return }
    copy.requestBody.append(buffer, 0..<count)
  }

  /// The request is whole and on its way to the side that answers: the copy follows.
  ///
  /// - Parameter payload: the message, where the call has read it.
  func launch(from call: Call, _ payload: Payload? = nil) {
    guard !isLaunched, !isSettled else { return }
    isLaunched = true
    if let payload, payload.buffer.count > settings.maxBody { return skip(.tooLarge) }
    do throws(RPCError) {
      if let payload {
        try ask(payload, from: call)
      } else {
        try ask(copy.requestPayload(), from: call)
      }
    } catch {
      other = .refused(error)
    }
  }

  private func ask(_ message: Payload, from call: Call) throws(RPCError) {
    let upstreams = copy.plans.snapshot.upstreams
    let request = UpstreamRequest()
    guard case .copy(let side, let upstream) = purpose else {
      if let upstream = route.plan.rpcUpstream {
        try Backends.backend(for: route.plan, upstreams[upstream].dialect).encodeRequest(copy, message, into: request)
      } else {
        _ = try message.converted(to: .proto, copy)
      }
      return
    }
    let time = settings.timeout ?? route.plan.timeout ?? worker.timeouts.streamIdle
    copy.deadline = worker.loop.now + time
    try Backends.backend(for: route.plan, upstreams[upstream].dialect).encodeRequest(copy, message, into: request)
    let span = CopySpan(of: call, to: side) { call.prepare(request, upstream: upstream) }
    request.fields.append("\(Self.mark)", "1")
    guard claim(request.body?.buffer.count ?? 0) else { return }
    self.span = span
    // Without tries beside the first one: a copy must not cost more than one request for each call.
    let attempt = Attempt(pool: copy.plans.pool(upstream), request: request, owner: self)
    self.attempt = attempt
    worker.shadows[ObjectIdentifier(self)] = self
    timer.schedule(after: time)
    attempt.start()
  }

  // MARK: The call's own answer

  /// The head of an answer that passes through.
  func answerBegan(_ head: ResponseHead, _ framing: BodyFraming) {
    guard !isSettled else { return }
    // Half of it, or none.
    if head.status == 304 || head.status == 206 || head.status < 200 { return skip(.notComparable) }
    if case .length(let length) = framing, length > settings.maxBody { return skip(.tooLarge) }
    tapped = TappedAnswer(head)
  }

  /// Whether the answer's bytes have to be seen.
  var isTapping: Bool { !isSettled && tapped != nil }

  func answerReceived(_ buffer: borrowing ByteBuffer, _ count: Int) {
    guard !isSettled, let tapped else { return }
    guard tapped.body.count + count <= settings.maxBody else { return skip(.tooLarge) }
    guard claim(count) else { return }
    tapped.body.append(buffer, 0..<count)
  }

  func answerEnded(_ trailers: FieldBlock) {
    guard !isSettled, let tapped else { return }
    tapped.trailers.append(contentsOf: trailers)
    answer = .tapped
  }

  /// The message that the answer was translated from.
  func answered(with payload: Payload) {
    guard !isSettled else { return }
    guard payload.buffer.count <= settings.maxBody else { return skip(.tooLarge) }
    guard claim(payload.buffer.count) else { return }
    answer = .message(payload)
  }

  /// The error that the answer was.
  func answered(with error: RPCError) {
    if !isSettled { answer = .error(error) }
  }

  /// The caller has all that it gets.
  func callEnded() {
    isCallOver = true
    // An upstream may answer before it has the whole request: then there is nothing to copy.
    if answer == nil || !isLaunched { skip(.unanswered) }
    compareIfReady()
    close()
  }

  // MARK: The end

  func compareIfReady() {
    guard !isSettled, isCallOver, let answer else { return }
    switch purpose {
    case .copy: if let other { compare(answer, other) }
    case .dryRun: endDryRun(answer)
    }
  }

  /// Gives up the comparison. What was sent goes on to its end: to break it off would cost a connection.
  func skip(_ reason: ShadowSkip) {
    guard !isSettled else { return }
    settle()
    switch purpose {
    case .copy: state.skip(reason, shard: worker.index)
    case .dryRun: state.dryRun.skipped.add(1, shard: worker.index)
    }
    close()
  }

  /// The outcome is known; nothing more is kept.
  func settle() {
    isSettled = true
    worker.discard(&copy.requestBody)
    worker.discard(&received)
    tapped = nil
    answer = nil
    other = nil
    worker.shared.buffers.release(reserved)
    reserved = 0
    // What the copy undid of a compression, which no end of a call gives back.
    copy.release(copy.reserved)
  }

  /// Lets go of what it held, once neither the call nor an attempt needs it.
  func close() {
    guard isSettled, isCallOver, attempt == nil, !isClosed else { return }
    isClosed = true
    timer.cancel()
    worker.shadows[ObjectIdentifier(self)] = nil
    if case .copy = purpose { state.leave() }
  }

  /// The copy's exchange is over.
  func exchangeEnded(status: Int? = nil, _ failure: UpstreamFailure.Kind? = nil) {
    guard let span, case .copy(_, let upstream) = purpose else { return }
    self.span = nil
    let name = copy.plans.snapshot.upstreams[upstream].name
    span.end(AttemptEnd(upstream: name, status: status, failure: failure), of: copy)
  }

  /// Ends without being counted: the loop ends.
  func cancel() {
    attempt?.cancel()
    attempt = nil
    timer.cancel()
    if !isSettled { settle() }
    worker.shadows[ObjectIdentifier(self)] = nil
  }

  /// Counts bytes against `limits.buffers`; false when there is no room, and then the comparison is given up.
  func claim(_ bytes: Int) -> Bool {
    guard worker.shared.buffers.reserve(bytes, limit: worker.limits.buffers) else {
      skip(.buffers)
      return false
    }
    reserved += bytes
    return true
  }
}

/// What one side answered.
enum ShadowAnswer {
  /// The message, in whatever codec and coding.
  case message(Payload)
  /// An error of the upstream's, or a misfit in its answer.
  case error(RPCError)
  /// It could not be asked.
  case refused(RPCError)
  /// Still as it passed through.
  case tapped
}

/// A bounded copy of an answer that passes through.
final class TappedAnswer {
  let head = ResponseHead()
  var body = ByteBuffer()
  let trailers = FieldBlock()

  init(_ head: ResponseHead) {
    self.head.status = head.status
    self.head.version = head.version
    self.head.fields.append(contentsOf: head.fields)
  }
}
