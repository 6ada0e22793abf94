import Bytes
import EventLoops
import HTTP1
import HTTP2
import HTTPModel
import RPC

/// One exchange on a shared HTTP/2 connection to an endpoint.
final class HTTP2UpstreamStream: UpstreamExchange {
  let connection: HTTP2UpstreamConnection
  private(set) var attempt: Attempt?
  private var stream: HTTP2Stream?
  private(set) var wasReused = false
  private var answerBegun = false
  private var interimAnswers = 0
  private var isPaused = false
  private var isDelivering = false
  private var isWaiting = false
  /// Bytes that were taken but not forwarded: their credit goes back when reading goes on.
  private var owedCredit = 0
  private var wasCongested = false
  private var beganAt: Instant

  /// Interim answers (1xx) that one exchange may have.
  private static let maximumInterimAnswers = 32
  private static let highWater = 128 << 10

  init(connection: HTTP2UpstreamConnection, attempt: Attempt) {
    self.connection = connection
    self.attempt = attempt
    beganAt = connection.worker.loop.now
  }

  private var session: HTTP2Session { connection.session }
  private var worker: Worker { connection.worker }

  // MARK: Sending

  var isWriting: Bool { stream != nil }
  var isCongested: Bool { (stream?.output.count ?? 0) > Self.highWater }

  /// Sends the request; false when the connection takes no more.
  func begin(reused: Bool) -> Bool {
    guard let attempt else { return true }
    beganAt = worker.loop.now
    wasReused = reused
    let request = attempt.request
    var length: Int?
    if case .length(let count) = request.framing { length = count }
    let hasBody = request.framing != .none && request.framing != .length(0)
    worker.requestLine.reset(method: request.method, isSecure: connection.endpoint.isSecure)
    worker.requestLine.target.append(request.target)
    if request.authority.isEmpty {
      worker.requestLine.authority.append(connection.endpoint.authority)
    } else {
      worker.requestLine.authority.append(request.authority)
    }
    guard
      let stream = session.request(
        worker.requestLine, fields: request.fields, contentLength: length, hasBody: hasBody, owner: self)
    else { return false }
    self.stream = stream
    attempt.assign(self)
    connection.scheduleFlush()
    guard hasBody else { return true }
    var body = ByteBuffer()
    if let message = request.body {
      worker.lendBuffer(to: &body, for: message.buffer.count + EnvelopeHead.size)
    }
    if !request.appendBody(to: &body) { attempt.takePending(into: &body) }
    session.send(&body, body.count, on: stream)
    worker.give(body)
    if attempt.bodyIsComplete { session.end(stream, trailers: attempt.pendingTrailers) }
    if isCongested { wasCongested = true }
    return true
  }

  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    guard let stream else { return buffer.consume(count) }
    if attempt?.request.streamsMessages == true {
      session.sendNow(&buffer, count, on: stream)
    } else {
      session.send(&buffer, count, on: stream)
    }
    if isCongested { wasCongested = true }
    connection.scheduleFlush()
  }

  func sendEnd(trailers: FieldBlock?) {
    guard let stream else { return }
    session.end(stream, trailers: trailers)
    connection.scheduleFlush()
  }

  // MARK: Receiving

  func pauseReading() { isPaused = true }

  func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    returnCredit()
    guard let stream, !isWaiting, stream.hasReceivedEnd || !stream.input.isEmpty else { return }
    isWaiting = true
    connection.deliverLater(self)
  }

  private func returnCredit() {
    guard owedCredit > 0, !isPaused, let stream else { return }
    session.credit(stream, owedCredit)
    owedCredit = 0
    connection.scheduleFlush()
  }

  /// Gives the attempt what has come of the answer.
  func deliver() {
    isWaiting = false
    guard let stream, !isDelivering else { return }
    isDelivering = true
    while !isPaused, let attempt, !stream.input.isEmpty {
      var buffer = stream.input.popFirst()
      give(&buffer, to: attempt)
      worker.give(buffer)
    }
    isDelivering = false
    if !isPaused, stream.hasReceivedEnd, stream.input.isEmpty { finish(stream) }
  }

  private func give(_ buffer: inout ByteBuffer, to attempt: Attempt) {
    let count = buffer.count
    owedCredit += count
    attempt.received(&buffer, count)
    returnCredit()
  }

  /// The answer is whole.
  private func finish(_ stream: HTTP2Stream) {
    guard let attempt else { return }
    self.attempt = nil
    // An answer before the request was whole: the rest of it is of no use (RFC 9113 section 8.1).
    if !stream.hasEnded { reset(stream, .cancel) }
    attempt.received(endWith: stream.trailers)
    leave(stream)
  }

  private func begin(_ stream: HTTP2Stream, _ attempt: Attempt) {
    let head = stream.response
    if head.isInformational {
      interimAnswers += 1
      if interimAnswers > Self.maximumInterimAnswers {
        return fail(.malformed, "too many interim answers", resetting: .enhanceYourCalm)
      }
      if head.status != 100 { attempt.received(interim: head) }
      return
    }
    answerBegun = true
    attempt.received(head, framing: declaredFraming(stream, attempt.request.method))
  }

  private func declaredFraming(_ stream: HTTP2Stream, _ method: HTTPMethod) -> BodyFraming {
    // Trailers may follow an empty body, whatever length the head says: gRPC servers end every answer so.
    let mayHaveTrailers = stream.contentLength == 0 && !stream.hasReceivedEnd && Self.isGRPC(stream.response.fields)
    if let length = stream.contentLength, !mayHaveTrailers { return .length(length) }
    let status = stream.response.status
    if status == 204 || status == 304 { return .none }
    if method == .head { return .untilClose }
    return stream.hasReceivedEnd ? .length(0) : .chunked
  }

  private static func isGRPC(_ fields: FieldBlock) -> Bool {
    guard let index = fields.firstIndex(of: .contentType) else { return false }
    return fields.withValue(at: index) { GRPCContentType.parts($0)?.isWeb == false }
  }

  // MARK: Ending

  /// Hands the attempt back before anything of it was sent.
  func giveUp() -> Attempt? {
    let given = attempt
    attempt = nil
    given?.unassign()
    return given
  }

  func abandon() {
    // Who has begun to answer is not gone, and a stream may say nothing for long.
    let isSuspect = !answerBegun && attempt?.request.streamsMessages == false
    attempt = nil
    guard let stream else { return connection.forget(self) }
    if isSuspect { connection.gaveUp(since: beganAt) }
    reset(stream, .cancel)
    leave(stream)
  }

  /// The connection is over before the answer is.
  func connectionFailed(_ failure: UpstreamFailure) {
    // The session is gone, so nothing will close the stream; the two would hold each other.
    stream?.owner = nil
    // What has come whole and waits for a slow caller is still given to it.
    if let stream, stream.hasReceivedEnd { return }
    var failure = failure
    failure.answerBegun = answerBegun
    let failed = attempt
    attempt = nil
    failed?.connectionFailed(self, failure)
  }

  private func fail(_ kind: UpstreamFailure.Kind, _ reason: String, resetting code: HTTP2ErrorCode? = nil) {
    let failed = attempt
    attempt = nil
    if let stream {
      if let code { reset(stream, code) }
      leave(stream)
    }
    failed?.connectionFailed(
      self,
      UpstreamFailure(kind: kind, reason: "\(connection.endpoint.name): \(reason)", answerBegun: answerBegun))
  }

  private func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    session.reset(stream, code)
    connection.scheduleFlush()
  }

  private func leave(_ stream: HTTP2Stream) {
    session.dropInput(of: stream)
  }
}

extension HTTP2UpstreamStream: HTTP2StreamOwner {
  func streamHead(_ stream: HTTP2Stream) {
    if let attempt { begin(stream, attempt) }
  }

  func stream(_ stream: HTTP2Stream, received bytes: inout ByteBuffer) {
    guard let attempt else {
      bytes.removeAll()
      return session.dropInput(of: stream)
    }
    guard !isPaused, !isDelivering, stream.input.isEmpty else {
      session.keep(&bytes, for: stream)
      return deliver()
    }
    isDelivering = true
    give(&bytes, to: attempt)
    isDelivering = false
  }

  func streamEnded(_ stream: HTTP2Stream) { deliver() }

  func streamDrained(_ stream: HTTP2Stream) {
    guard wasCongested else { return }
    wasCongested = false
    attempt?.drained()
  }

  func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    connection.ended(self)
    guard attempt != nil, !stream.hasReceivedEnd else { return }
    switch code {
    case _ where stream.isFaulty: fail(.malformed, "the answer breaks the rules of HTTP/2")
    case .refusedStream where !answerBegun: fail(.refused, "refused")
    default: fail(.reset(code), "reset with \(code.name)")
    }
  }
}
