import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTP2
import HTTPModel
import Metrics
import RPC
import TransportSecurity

/// One stream of a client's HTTP/2 connection: carries one call.
final class HTTP2ClientStream: ClientStream {
  let connection: HTTP2ClientConnection
  let stream: HTTP2Stream
  /// Where its connection has it.
  var place = -1
  private(set) var call: Call?
  private var framing = BodyFraming.none

  private var mayReceive = false
  private var isPaused = false
  private var isDelivering = false
  private var isWaiting = false
  private var hasDeliveredEnd = false
  private var owesContinue = false
  /// Bytes that were taken but not forwarded: their credit goes back when reading goes on.
  private var owedCredit = 0
  private var suppressesBody = false
  private var sentHead = false
  private var wasCongested = false
  /// Until when the rest of a body is dropped that nobody wants, before the client is told to stop (RFC 9113 section
  /// 8.1). Clients that are told at once may lose the answer, as they do when an HTTP/1.1 connection is closed on them.
  private var lingersUntil: Instant?
  /// Of the budget of buffered bytes, for an answer that has not left.
  private var reserved = 0

  private let startedAt: Instant
  private var lastProgress: Instant
  /// What waited to be sent when it was last looked at: less of it is progress, too.
  private var outputSeen = 0
  private var rateWindowStart: Instant
  private var rateWindowBytes = 0

  var coveredNames: CertificateNames? { connection.coveredNames }
  var identity: ClientIdentity? { connection.identity }

  init(connection: HTTP2ClientConnection, stream: HTTP2Stream) {
    self.connection = connection
    self.stream = stream
    let now = connection.worker.loop.now
    startedAt = now
    lastProgress = now
    rateWindowStart = now
  }

  private var worker: Worker { connection.worker }
  private var session: HTTP2Session { connection.session }
  var caller: ConnectionOrigin? { connection.origin }

  /// The request's head is whole.
  func begin() {
    let head = stream.request
    framing = requestFraming
    let options = HopByHop.remove(from: head.fields)
    suppressesBody = head.method == .head
    hasDeliveredEnd = stream.hasReceivedEnd
    owesContinue = options.expectsContinue && !hasDeliveredEnd
    let call = worker.makeCall(client: self, head: head, options: options, framing: framing)
    self.call = call
    call.begin()
    if let call = self.call { connection.arm(call.deadline ?? lastProgress + worker.timeouts.streamIdle) }
  }

  /// The request's head was refused: it is answered without anybody being asked.
  func refuse(_ error: RPCError) {
    suppressesBody = stream.request.method == .head
    let call = worker.makeRefusedCall(client: self, head: stream.request)
    self.call = call
    call.refuse(error)
  }

  private var requestFraming: BodyFraming {
    if let length = stream.contentLength { return .length(length) }
    guard stream.hasReceivedEnd else { return .chunked }
    switch stream.request.method {
    // Who expects a body is told that there is none (RFC 9110 section 8.6).
    case .post, .put, .patch: return .length(0)
    default: return .none
    }
  }

  // MARK: The request body

  var hasReceivedAll: Bool { hasDeliveredEnd }

  func startReceiving() {
    guard !mayReceive else { return }
    mayReceive = true
    if owesContinue {
      owesContinue = false
      session.respond(stream, interim: 100, fields: FieldBlock())
      connection.scheduleFlush()
    }
    beginRateWindow()
    deliverLater()
  }

  func pauseReceiving() { isPaused = true }

  func resumeReceiving() {
    guard isPaused else { return }
    isPaused = false
    returnCredit()
    beginRateWindow()
    deliverLater()
  }

  private func beginRateWindow() {
    rateWindowStart = worker.loop.now
    rateWindowBytes = 0
    if !hasDeliveredEnd { connection.arm(rateWindowStart + ClientConnection.rateWindow) }
  }

  private func returnCredit() {
    guard owedCredit > 0, !isPaused else { return }
    session.credit(stream, owedCredit)
    owedCredit = 0
    connection.scheduleFlush()
  }

  private func deliverLater() {
    guard !isWaiting, !hasDeliveredEnd, stream.hasReceivedEnd || !stream.input.isEmpty else { return }
    isWaiting = true
    connection.deliverLater(self)
  }

  /// Gives the call what has come of the body.
  func deliver() {
    isWaiting = false
    guard mayReceive, !isDelivering else { return }
    isDelivering = true
    while !isPaused, let call, !stream.input.isEmpty {
      var buffer = stream.input.popFirst()
      give(&buffer, to: call)
      worker.give(buffer)
    }
    isDelivering = false
    guard !isPaused, !hasDeliveredEnd, stream.hasReceivedEnd, stream.input.isEmpty, let call else { return }
    hasDeliveredEnd = true
    call.receivedEnd(stream.trailers)
  }

  private func give(_ buffer: inout ByteBuffer, to call: Call) {
    let count = buffer.count
    rateWindowBytes += count
    owedCredit += count
    call.received(&buffer, count)
    returnCredit()
  }

  // MARK: The answer

  /// More than this of one stream does not wait here, but at the upstream.
  private static let highWater = 128 << 10

  var isCongested: Bool { stream.outputCount > Self.highWater }

  func sendInterim(_ head: ResponseHead) {
    guard !sentHead else { return }
    session.respond(stream, interim: head.status, fields: head.fields)
    connection.scheduleFlush()
  }

  func sendHead(status: Int, fields: FieldBlock, framing: BodyFraming, endsCall: Bool) {
    guard !sentHead else { return }
    sentHead = true
    var length: Int?
    var hasBody = !suppressesBody
    switch framing {
    case .none: hasBody = false
    case .length(let count):
      length = count
      if count == 0 { hasBody = false }
    case .chunked, .untilClose: break
    }
    if status == 204 || status == 304 {
      length = nil
      hasBody = false
    }
    session.respond(stream, status: status, fields: fields, contentLength: length, hasBody: hasBody)
    connection.scheduleFlush()
    // From here on an answer that passes may have no deadline but a standstill.
    if !endsCall { connection.arm(worker.loop.now + worker.timeouts.streamIdle) }
  }

  func sendBody(_ buffer: inout ByteBuffer, _ count: Int) {
    if call?.isStreamingRoute == true {
      session.sendNow(&buffer, count, on: stream)
    } else {
      session.send(&buffer, count, on: stream)
    }
    lastProgress = worker.loop.now
    if isCongested { wasCongested = true }
    connection.scheduleFlush()
  }

  func sendEnd(trailers: FieldBlock?) {
    session.end(stream, trailers: trailers)
    connection.scheduleFlush()
  }

  func takeOver(reserved bytes: Int) {
    reserved += bytes
    if stream.isClosed || stream.output.isEmpty { releaseReserved() }
  }

  private func releaseReserved() {
    worker.shared.buffers.release(reserved)
    reserved = 0
  }

  /// Upgrades belong to HTTP/1.1: no request that came here asks for one.
  func becomeTunnel() { abort() }

  func abort() {
    let code = resetCode
    call = nil
    session.reset(stream, code)
    connection.scheduleFlush()
    dropInput()
  }

  /// What the client is told of an answer that ends too early.
  private var resetCode: HTTP2ErrorCode {
    switch call?.error?.code {
    case .canceled, .deadlineExceeded: .cancel
    case .resourceExhausted: .enhanceYourCalm
    default: .internalError
    }
  }

  func callEnded() {
    call = nil
    session.end(stream, trailers: nil)
    lastProgress = worker.loop.now
    isPaused = false
    owedCredit += stream.inputCount
    returnCredit()
    dropInput()
    connection.scheduleFlush()
    guard !stream.isClosed else { return }
    if !stream.hasReceivedEnd {
      lingersUntil = lastProgress + ClientConnection.lingering
      connection.arm(lastProgress + ClientConnection.lingering)
    }
    connection.arm(lastProgress + worker.timeouts.streamIdle)
  }

  private func dropInput() { session.dropInput(of: stream) }

  /// The connection is gone.
  func connectionEnded() {
    stream.owner = nil
    let call = call
    self.call = nil
    call?.clientLeft()
    dropInput()
    session.dropOutput(of: stream)
    releaseReserved()
  }

  // MARK: Times

  /// Looks at what may not last longer.
  ///
  /// - Returns: when to look again; nil when the stream is over.
  func check(_ now: Instant) -> Instant? {
    if stream.outputCount != outputSeen {
      outputSeen = stream.outputCount
      lastProgress = now
    }
    guard let call else { return checkEnd(now) }
    var next = lastProgress + worker.timeouts.streamIdle
    if let deadline = call.deadline {
      if now >= deadline {
        call.deadlinePassed()
        return nil
      }
      next = deadline
    } else if now >= next {
      call.stalled()
      return nil
    }
    guard !hasDeliveredEnd, mayReceive, !isPaused else { return next }
    guard let look = checkBody(call, now) else { return nil }
    return Swift.min(next, look)
  }

  /// The call is over and the stream is not: the client does not take the answer, or still sends.
  private func checkEnd(_ now: Instant) -> Instant? {
    guard !stream.isClosed else { return nil }
    let end = lastProgress + worker.timeouts.streamIdle
    var code: HTTP2ErrorCode?
    if now >= end { code = .cancel }
    if stream.hasSentEnd, let lingersUntil, now >= lingersUntil { code = .noError }
    if let code {
      session.reset(stream, code)
      connection.scheduleFlush()
      return nil
    }
    guard let lingersUntil else { return end }
    return Swift.min(end, now < lingersUntil ? lingersUntil : now + ClientConnection.lingering)
  }

  private func checkBody(_ call: Call, _ now: Instant) -> Instant? {
    if call.buffersRequest, now >= startedAt + worker.timeouts.requestBody {
      worker.metrics.connections.slowRequests.add(1, shard: worker.index)
      call.fail(RPCError(.deadlineExceeded, "the request body did not arrive in time", httpStatus: 408))
      return nil
    }
    if now >= rateWindowStart + ClientConnection.rateWindow {
      if worker.limits.bodyRate > 0, !call.mayPause, rateWindowBytes < worker.limits.bodyRate * 5 {
        worker.metrics.connections.slowRequests.add(1, shard: worker.index)
        call.fail(RPCError(.deadlineExceeded, "the request body arrives too slowly", httpStatus: 408))
        return nil
      }
      rateWindowStart = now
      rateWindowBytes = 0
    }
    return rateWindowStart + ClientConnection.rateWindow
  }
}

extension HTTP2ClientStream: HTTP2StreamOwner {
  func streamHead(_ stream: HTTP2Stream) {}

  func stream(_ stream: HTTP2Stream, received bytes: inout ByteBuffer) {
    guard let call else {
      owedCredit += bytes.count
      returnCredit()
      bytes.removeAll()
      return dropInput()
    }
    lastProgress = worker.loop.now
    guard mayReceive, !isPaused, !isDelivering, stream.input.isEmpty else {
      session.keep(&bytes, for: stream)
      return deliver()
    }
    isDelivering = true
    give(&bytes, to: call)
    isDelivering = false
  }

  func streamEnded(_ stream: HTTP2Stream) { deliver() }

  func streamDrained(_ stream: HTTP2Stream) {
    lastProgress = worker.loop.now
    releaseReserved()
    guard wasCongested else { return }
    wasCongested = false
    call?.clientDrained()
  }

  func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    let call = call
    self.call = nil
    dropInput()
    releaseReserved()
    connection.ended(self)
    call?.clientLeft()
  }
}
