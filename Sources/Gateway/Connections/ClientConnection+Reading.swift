import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC

extension ClientConnection {
  /// How much of following requests is read ahead while a call runs.
  private static let readAhead = 64 << 10

  /// Handles what has been read, until more is needed or somebody has to go first.
  func process() {
    guard !isProcessing else { return }
    isProcessing = true
    var buffer = ByteBuffer()
    swap(&buffer, &input)
    do {
      while try step(&buffer) {}
    } catch {
      refuse(error)
      buffer.removeAll()
    }
    isProcessing = false
    if buffer.isEmpty || phase == .closed {
      worker.give(buffer)
    } else {
      swap(&buffer, &input)
    }
    boundReadingAhead()
  }

  /// Who sends ahead of what can be handled waits: of the answers that it does not read, of the call that runs, of the
  /// decision about its body.
  private func boundReadingAhead() {
    switch phase {
    case .reply: setReadsPaused(input.count > Self.readAhead)
    case .head: setReadsPaused(isCongested && input.count > Self.readAhead)
    case .body where !mayReceive: setReadsPaused(input.count > Self.readAhead)
    case .body, .leftover, .tunnel, .discard, .closed: break
    }
  }

  private func step(_ buffer: inout ByteBuffer) throws(HTTP1Error) -> Bool {
    switch phase {
    case .head:
      guard !buffer.isEmpty, !isCongested else { return false }
      let incoming = incoming ?? requestBegins()
      guard try incoming.parser.parse(&buffer, into: incoming.head) else { return false }
      try beginCall(incoming)
      return true
    case .body:
      // The end of a body whose last bytes have filled the other side has nothing to wait for.
      guard mayReceive, let incoming, !readsPaused || incoming.reader.isComplete else { return false }
      switch try incoming.reader.next(&buffer, trailers: incoming.trailers) {
      case .needsMore: return false
      case .data(let count):
        rateWindowBytes += count
        if let call { call.received(&buffer, count) } else { buffer.consume(count) }
        return true
      case .end:
        phase = .reply
        call?.receivedEnd(incoming.trailers)
        return true
      }
    case .leftover: return try dropLeftover(&buffer)
    case .tunnel:
      guard !buffer.isEmpty, !readsPaused, let call else { return false }
      call.received(&buffer, buffer.count)
      return true
    case .discard:
      buffer.removeAll()
      return false
    case .reply, .closed: return false
    }
  }

  /// Of a body whose call has ended this much is read and dropped; the connection is closed over more.
  private static let longestLeftover = 1 << 20

  /// Whether the rest of the body may be waited for: the client was not told that the connection ends, and sends it.
  var mayDropLeftover: Bool {
    guard phase == .body, !closesAfterAnswer, !worker.isDraining, !owesContinue, let incoming else { return false }
    return (incoming.reader.remainingLength ?? 0) <= Self.longestLeftover
  }

  private func dropLeftover(_ buffer: inout ByteBuffer) throws(HTTP1Error) -> Bool {
    guard let incoming else { return false }
    switch try incoming.reader.next(&buffer, trailers: incoming.trailers) {
    case .needsMore: return false
    case .data(let count):
      buffer.consume(count)
      leftoverBytes += count
      if leftoverBytes > Self.longestLeftover { endAfterFlush() }
    case .end: awaitRequest()
    }
    return true
  }

  private func requestBegins() -> IncomingRequest {
    let fresh = worker.takeIncoming()
    incoming = fresh
    requestStartedAt = worker.loop.now
    arm(requestStartedAt + worker.timeouts.requestHead)
    return fresh
  }

  /// The head is there: finds out what it asks for and begins the call.
  private func beginCall(_ incoming: IncomingRequest) throws(HTTP1Error) {
    let head = incoming.head
    let framing = try MessageFraming.ofRequest(head)
    // There is nothing to receive of an empty body, so nothing would come to wake a call that waits for it.
    let isEmpty = framing == .none || framing == .length(0)
    let options = HopByHop.remove(from: head.fields)
    requests += 1
    sentHead = false
    suppressesBody = head.method == .head
    let limit = worker.limits.requestsPerConnection
    closesAfterAnswer =
      head.version == .http10 || !ConnectionPersistence.isPersistent(version: head.version, options: options)
      || limit > 0 && requests >= limit || isPastItsAge
    incoming.reader = BodyReader(framing: isEmpty ? .none : framing, limits: worker.headLimits)
    // An HTTP/1.0 client does not know interim answers (RFC 9110 section 10.1.1).
    owesContinue = options.expectsContinue && !isEmpty && head.version != .http10
    mayReceive = false
    phase = isEmpty ? .reply : .body
    let call = worker.makeCall(client: self, head: head, options: options, framing: framing)
    self.call = call
    call.begin()
    if let call = self.call { arm(call.deadline ?? lastProgress + worker.timeouts.streamIdle) }
  }

  private var isPastItsAge: Bool {
    let age = worker.timeouts.connectionAge
    return age > .zero && worker.loop.now >= openedAt + age
  }

  // MARK: From the call

  var hasReceivedAll: Bool { phase != .body }

  func startReceiving() {
    guard !mayReceive else { return }
    mayReceive = true
    guard phase == .body else { return }
    setReadsPaused(false)
    if owesContinue {
      owesContinue = false
      output.last.append("HTTP/1.1 100 Continue\r\n\r\n")
      scheduleFlush()
    }
    rateWindowStart = worker.loop.now
    rateWindowBytes = 0
    arm(rateWindowStart + Self.rateWindow)
    if !isProcessing { processLater() }
  }

  func pauseReceiving() { setReadsPaused(true) }

  func resumeReceiving() {
    guard readsPaused else { return }
    rateWindowStart = worker.loop.now
    rateWindowBytes = 0
    setReadsPaused(false)
    if !isProcessing { processLater() }
  }

  /// The input is looked at again when the tick ends: epoll will not report what has been read already.
  func processLater() {
    guard !input.isEmpty else { return }
    scheduleFlush()
  }

  func becomeTunnel() {
    phase = .tunnel
    mayReceive = true
    setReadsPaused(false)
    if !isProcessing { processLater() }
  }
}
