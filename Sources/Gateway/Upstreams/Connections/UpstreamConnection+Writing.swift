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
    output.makeRoom(from: worker.loop.buffers)
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
    if !request.appendBody(to: &output.last) {
      var pending = ByteBuffer()
      attempt.takePending(into: &pending)
      output.last.append(pending)
    }
    // Whoever waits since before there was a connection is told when it may go on.
    if isCongested || attempt.hasPausedOwner { wasCongested = true }
    scheduleFlush()
  }

  private func write(_ request: UpstreamRequest, _ target: Span<UInt8>, _ authority: Span<UInt8>) {
    HeadWriter.request(
      method: request.method, target: target, authority: authority, fields: request.fields, framing: request.framing,
      closing: false, into: &output.last)
  }

  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    if movesWhole(buffer, count) {
      output.makePlace(for: count, from: worker.loop.buffers)
    } else {
      output.makeRoom(for: count + ChunkedWriter.overhead, from: worker.loop.buffers)
    }
    BodyFramer.frame(&buffer, count, as: attempt?.request.framing ?? .none, into: &output.last)
    if isCongested { wasCongested = true }
    scheduleFlush()
  }

  /// Whether bytes go on in their own memory.
  private func movesWhole(_ buffer: borrowing ByteBuffer, _ count: Int) -> Bool {
    attempt?.request.framing != .chunked && count == buffer.count && buffer.capacity > 0
  }

  func sendEnd(trailers: FieldBlock?) {
    BodyFramer.frameEnd(trailers, as: attempt?.request.framing ?? .none, into: &output.last)
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
    let waiting = output.count
    let outcome = output.write(givingTo: worker.loop.buffers) { transport?.write(from: &$0) ?? .closed }
    // Of several buffers the first may have left where the last could not.
    if output.count < waiting { hasSent = true }
    switch outcome {
    case .transferred, .wouldBlock: break
    case .failed(let error):
      // What the backend said before it stopped listening may still be there to read.
      output.removeAll(givingTo: worker.loop.buffers)
      isPersistent = false
      if !answerBegun { readOnce() }
      if state == .active, !answerBegun, attempt != nil { fail(.closed, "writing: \(error)") }
      return
    case .closed:
      fail(.closed, "writing: closed")
      return
    }
    let blocked = !output.isEmpty
    if blocked != wantsWritable {
      wantsWritable = blocked
      updateInterest()
    }
    if !blocked { output.rest(worker.loop.buffers) }
    if blocked, !wasCongested {
      wasCongested = true
      attempt?.congested()
    } else if wasCongested, !blocked {
      wasCongested = false
      attempt?.drained()
    }
  }
}
