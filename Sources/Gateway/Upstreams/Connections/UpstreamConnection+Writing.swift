import Bytes
import EventLoops
import HTTP1
import HTTPModel

/// The way out: the request's head, its body, and the flush at the end of the tick.
extension UpstreamConnection: TickFlushing {
  /// Whether bytes of the present request may be written.
  var isWriting: Bool { state == .active }
  var isCongested: Bool { output.count > Watermark.high }

  /// Takes an exchange on an idle connection.
  func carry(_ attempt: Attempt) {
    self.attempt = attempt
    wasReused = true
    state = .active
    writeRequest()
  }

  func writeRequest() {
    guard let attempt else { return }
    attempt.assign(self)
    countExchange()
    worker.lendBuffer(to: &output)
    phase = .head
    parser = ResponseHeadParser(limits: worker.headLimits)
    // The parser clears the head when the answer begins.
    if trailers.byteCount > 0 { trailers.removeAll() }
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
    if !request.appendBody(to: &output) {
      var pending = ByteBuffer()
      attempt.takePending(into: &pending)
      output.append(pending)
    }
    // Whoever waits since before there was a connection is told when it may go on.
    if isCongested || attempt.hasPausedOwner { wasCongested = true }
    scheduleFlush()
  }

  private func write(_ request: UpstreamRequest, _ target: Span<UInt8>, _ authority: Span<UInt8>) {
    HeadWriter.request(
      method: request.method, target: target, authority: authority, fields: request.fields, framing: request.framing,
      closing: false, into: &output)
  }

  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    if !movesWhole(buffer, count) { worker.lendBuffer(to: &output, for: count + ChunkedWriter.overhead) }
    BodyFramer.frame(&buffer, count, as: attempt?.request.framing ?? .none, into: &output)
    if isCongested { wasCongested = true }
    scheduleFlush()
  }

  /// Whether bytes go on in their own memory.
  private func movesWhole(_ buffer: borrowing ByteBuffer, _ count: Int) -> Bool {
    attempt?.request.framing != .chunked && count == buffer.count && buffer.capacity > 0
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
}
