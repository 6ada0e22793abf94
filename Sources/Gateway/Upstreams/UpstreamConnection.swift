import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel

/// One HTTP/1.1 connection to an endpoint; carries one exchange at a time.
///
/// It goes back to its endpoint's idle ones only if request and answer were whole and nothing came after; else it is
/// closed. An idle connection holds no buffers, and its end is noticed at once, because it stays registered.
final class UpstreamConnection: ReadinessHandler, TickFlushing, UpstreamExchange {
  enum State {
    case connecting
    case active
    case idle
    case closed
  }

  private enum Phase {
    case head
    case body
    case tunnel
  }

  /// Held: after a reload has taken the endpoint out, the last exchanges on it still end here. ``close()`` lets the
  /// connection go from there, so that this is no cycle for longer than that.
  let endpoint: EndpointPool
  let worker: Worker
  var transport: Transport?
  var registration: Registration?
  private(set) var state = State.connecting
  private var phase = Phase.head
  /// The exchange it carries.
  private(set) var attempt: Attempt?
  /// Whether an exchange was over it before the present one.
  private(set) var wasReused = false

  var input = ByteBuffer()
  private var output = ByteBuffer()
  private var parser: ResponseHeadParser
  private var reader: BodyReader
  private let head = ResponseHead()
  private let trailers = FieldBlock()
  private var isPersistent = true
  private var answerBegun = false
  /// Whether bytes of the present request have left.
  private var hasSent = false
  private var interimAnswers = 0
  var readsPaused = false
  var wantsWritable = false
  private var isFlushing = false
  private var isProcessing = false
  /// Whether the last read brought so much that the next one gets a big buffer.
  private var isBulk = false
  /// Whether the present body goes through a pipe.
  private var isSplicing = false
  private var wasCongested = false
  /// Whether the socket is open, and only the TLS handshake is missing.
  var isConnected = false
  /// Interim answers (1xx) that one exchange may have: each may be as large as a head, and no window holds them back.
  private static let maximumInterimAnswers = 32
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  init(endpoint: EndpointPool, worker: Worker, transport: consuming Transport, attempt: Attempt) throws(SystemError) {
    self.endpoint = endpoint
    self.worker = worker
    self.attempt = attempt
    parser = ResponseHeadParser(limits: worker.headLimits)
    reader = BodyReader(framing: .none, limits: worker.headLimits)
    let descriptor = transport.descriptor
    self.transport = consume transport
    registration = try worker.loop.register(descriptor, [.writable], handler: self)
    timer.schedule(after: endpoint.connectTimeout)
  }

  // MARK: Sending

  /// Whether bytes of the present request may be written.
  var isWriting: Bool { state == .active }
  var isCongested: Bool { output.count > Watermark.high }

  /// Takes an exchange on an idle connection.
  func carry(_ attempt: Attempt) {
    self.attempt = attempt
    wasReused = true
    state = .active
    timer.cancel()
    writeRequest()
  }

  private func writeRequest() {
    guard let attempt else { return }
    attempt.assign(self)
    phase = .head
    parser = ResponseHeadParser(limits: worker.headLimits)
    head.removeAll()
    trailers.removeAll()
    answerBegun = false
    hasSent = false
    interimAnswers = 0
    isPersistent = true
    isBulk = false
    isSplicing = false
    let request = attempt.request
    request.target.withSpan { target in
      if request.authority.isEmpty {
        endpoint.authority.withSpan { write(request, target, $0) }
      } else {
        request.authority.withSpan { write(request, target, $0) }
      }
    }
    if let body = request.body {
      output.append(body.buffer)
    } else {
      var pending = ByteBuffer()
      attempt.takePending(into: &pending)
      output.append(pending)
    }
    // Whoever waits since before there was a connection is told when it may go on.
    if isCongested { wasCongested = true }
    scheduleFlush()
  }

  private func write(_ request: UpstreamRequest, _ target: Span<UInt8>, _ authority: Span<UInt8>) {
    HeadWriter.request(
      method: request.method, target: target, authority: authority, fields: request.fields, framing: request.framing,
      closing: false, into: &output)
  }

  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    BodyFramer.frame(&buffer, count, as: attempt?.request.framing ?? .none, into: &output)
    if isCongested { wasCongested = true }
    scheduleFlush()
  }

  func sendEnd(trailers: FieldBlock?) {
    BodyFramer.frameEnd(trailers, as: attempt?.request.framing ?? .none, into: &output)
    scheduleFlush()
  }

  private func scheduleFlush() {
    guard !isFlushing, !wantsWritable else { return }
    isFlushing = true
    worker.loop.flushAtTickEnd(self)
  }

  func flush() {
    isFlushing = false
    guard state == .active, !output.isEmpty else { return }
    switch transport?.write(from: &output) {
    case .transferred?: hasSent = true
    case .wouldBlock?: break
    case .failed(let error)?:
      // What the backend said before it stopped listening may still be there to read.
      output.removeAll()
      isPersistent = false
      if !answerBegun { readOnce() }
      if state == .active, !answerBegun, attempt != nil { fail(.closed, "writing: \(error)") }
      return
    case .closed?, nil:
      fail(.closed, "writing: closed")
      return
    }
    let blocked = !output.isEmpty
    if blocked != wantsWritable {
      wantsWritable = blocked
      updateInterest()
    }
    if !blocked { worker.recycle(&output) }
    if blocked, !wasCongested {
      wasCongested = true
      attempt?.congested()
    } else if wasCongested, !blocked {
      wasCongested = false
      attempt?.drained()
    }
  }

  // MARK: Receiving

  func ready(_ readiness: Readiness) {
    switch state {
    case .connecting: finishConnecting()
    case .idle: if readiness.meets(.broken) || !staysIdle() { close() }
    case .active:
      if readiness.contains(.writable) { flush() }
      guard state == .active else { return }
      let gone = readiness.meets(.broken)
      if gone, readsPaused {
        // What came before its end is read when there is room for it; the loop would report it again and again.
        unregister()
      } else if gone || readiness.contains(.readable), !readsPaused {
        readOnce()
      }
    case .closed: break
    }
  }

  /// The connection can be asked.
  func opened() {
    timer.cancel()
    state = .active
    updateInterest()
    writeRequest()
  }

  func readOnce() {
    if spliceOnce() { return }
    if isBulk { worker.lendBulkBuffer(to: &input) } else { worker.lendBuffer(to: &input) }
    let outcome = transport?.read(into: &input, room: worker.readRoom) ?? .closed
    switch outcome {
    case .transferred where !hasSent:
      // Nothing was asked yet: these bytes belong to nobody.
      worker.recycle(&input)
      fail(.closed, "bytes before a request")
    case .transferred(let count):
      isBulk = count >= worker.bulkThreshold
      process()
      readEnd()
    case .wouldBlock: worker.recycle(&input)
    case .closed: inputClosed()
    case .failed(let error): fail(.closed, "reading: \(error)")
    }
  }

  /// What is left of a body for which a pipe is worth its system calls.
  private static let spliceMinimum = 256 << 10

  /// Moves body bytes towards the client inside the kernel, if they may go so; false when they must be read.
  private func spliceOnce() -> Bool {
    guard phase == .body, input.isEmpty, transport?.isSpliceable == true, let left = reader.remainingLength,
      left >= Self.spliceMinimum || isSplicing, let attempt, let pipe = attempt.pipe
    else { return false }
    switch transport?.splice(into: pipe, limit: min(left, SplicePipe.capacity)) ?? .closed {
    case .transferred(let count):
      isSplicing = true
      reader.skip(count)
      attempt.piped(count)
      if reader.isComplete { process() }
    case .wouldBlock: break
    case .closed: inputClosed()
    case .failed(let error): fail(.closed, "reading: \(error)")
    }
    return true
  }

  private func inputClosed() {
    isPersistent = false
    guard attempt != nil else {
      close()
      return
    }
    if phase == .tunnel {
      finishExchange()
      return
    }
    do {
      guard phase == .body else {
        fail(.closed, "closed before an answer")
        return
      }
      try reader.inputClosed()
      process()
    } catch {
      fail(.closed, "closed inside the answer: \(error.reason)")
    }
  }

  /// Handles what has been read. The input is taken out of `self` meanwhile: what is called here may close the
  /// connection.
  func process() {
    guard !isProcessing else { return }
    isProcessing = true
    var buffer = ByteBuffer()
    swap(&buffer, &input)
    do {
      while attempt != nil, state == .active, try step(&buffer) {}
    } catch {
      fail(.malformed, error.reason)
    }
    isProcessing = false
    if state == .active, attempt != nil, !buffer.isEmpty {
      swap(&buffer, &input)
    } else {
      worker.give(buffer)
    }
  }

  /// One event of the answer; false when more bytes are needed or the reader was paused.
  private func step(_ buffer: inout ByteBuffer) throws(HTTP1Error) -> Bool {
    guard let attempt else { return false }
    switch phase {
    case .head:
      guard !buffer.isEmpty else { return false }
      answerBegun = true
      guard try parser.parse(&buffer, into: head) else { return false }
      return try begin(attempt)
    case .body:
      guard !readsPaused else { return false }
      switch try reader.next(&buffer, trailers: trailers) {
      case .needsMore: return false
      case .data(let count):
        attempt.received(&buffer, count)
        return true
      case .end:
        if !buffer.isEmpty { isPersistent = false }
        finishExchange()
        return false
      }
    case .tunnel:
      guard !readsPaused, !buffer.isEmpty else { return false }
      attempt.received(&buffer, buffer.count)
      return true
    }
  }

  private func begin(_ attempt: Attempt) throws(HTTP1Error) -> Bool {
    if head.status == 101 {
      guard attempt.request.upgrades, HopByHop.remove(from: head.fields).upgradeToWebSocket else {
        fail(.malformed, "the answer switches protocols although nobody asked for it")
        return false
      }
      phase = .tunnel
      isPersistent = false
      attempt.received(head, framing: .none)
      return true
    }
    if head.isInformational {
      interimAnswers += 1
      guard interimAnswers <= Self.maximumInterimAnswers else {
        fail(.malformed, "too many interim answers before the final one")
        return false
      }
      if head.status != 100 { attempt.received(interim: head) }
      head.removeAll()
      parser = ResponseHeadParser(limits: worker.headLimits)
      return true
    }
    let framing = try MessageFraming.ofResponse(head, to: attempt.request.method)
    let declared =
      attempt.request.method == .head ? try MessageFraming.ofResponse(head, to: .get) : framing
    let options = HopByHop.remove(from: head.fields)
    isPersistent =
      framing != .untilClose && ConnectionPersistence.isPersistent(version: head.version, options: options)
    reader = BodyReader(framing: framing, limits: worker.headLimits)
    phase = .body
    attempt.received(head, framing: declared)
    return true
  }

  // MARK: Ending

  /// The answer is whole: tells the attempt, then goes idle or closes.
  private func finishExchange() {
    guard let attempt else { return }
    // It may be the last that holds the endpoint, when a reload has taken that out.
    defer { withExtendedLifetime(attempt) {} }
    let requestIsWhole = attempt.bodyIsComplete && output.isEmpty
    self.attempt = nil
    attempt.received(endWith: trailers)
    guard state == .active else { return }
    if isPersistent, requestIsWhole, !worker.isDraining, transport?.hasUnread == false {
      state = .idle
      readsPaused = false
      updateInterest()
      worker.recycle(&output)
      timer.schedule(after: worker.timeouts.upstreamIdle)
      endpoint.becameIdle(self)
    } else {
      close()
    }
  }

  /// The attempt wants no more of it.
  func abandon() {
    attempt = nil
    close()
  }

  func fail(_ kind: UpstreamFailure.Kind, _ reason: String) {
    let failed = attempt
    attempt = nil
    let begun = answerBegun
    let nothingSent = !hasSent
    close()
    failed?.connectionFailed(
      self,
      UpstreamFailure(
        kind: kind, reason: "\(endpoint.name): \(reason)", nothingSent: nothingSent, answerBegun: begun))
  }

  private func timeIsUp() {
    switch state {
    case .connecting:
      endpoint.connectFailed()
      fail(.connect, "no connection in time")
    case .idle: close()
    case .active, .closed: break
    }
  }

  /// Closes a connection that its endpoint has no idle place for.
  func closeSurplus() {
    state = .active
    close()
  }

  func close() {
    guard state != .closed else { return }
    let wasIdle = state == .idle
    state = .closed
    timer.cancel()
    unregister()
    transport = nil
    worker.discard(&input)
    worker.discard(&output)
    endpoint.closed(self, wasIdle: wasIdle)
  }
}
