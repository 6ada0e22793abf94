import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel

extension ClientConnection: ClientStream {
  var isCongested: Bool { output.count > Watermark.high }

  func sendInterim(_ head: ResponseHead) {
    guard phase != .closed, !sentHead, incoming?.head.version == .http11 else { return }
    HeadWriter.response(status: head.status, fields: head.fields, framing: .none, closing: false, into: &output.last)
    scheduleFlush()
  }

  func sendHead(status: Int, fields: FieldBlock, framing: BodyFraming, endsCall: Bool) {
    guard phase != .closed else { return }
    sentHead = true
    var framing = framing
    if framing == .chunked, incoming?.head.version == .http10 { framing = .untilClose }
    if framing == .untilClose, !suppressesBody {
      // A body of unknown length: chunked where the client knows that, else ended by closing.
      if incoming?.head.version == .http10 { closesAfterAnswer = true } else { framing = .chunked }
    }
    if worker.isDraining || endsCall && phase == .body { closesAfterAnswer = true }
    // From here on an answer that passes may have no deadline but a standstill.
    if !endsCall { arm(worker.loop.now + worker.timeouts.streamIdle) }
    answerFraming = framing
    let shown: BodyFraming = suppressesBody && framing == .untilClose ? .none : framing
    output.makeRoom(from: worker.loop.buffers)
    HeadWriter.response(
      status: status, fields: fields, framing: shown, closing: closesAfterAnswer && status != 101, into: &output.last)
    scheduleFlush()
  }

  func sendBody(_ buffer: inout ByteBuffer, _ count: Int) {
    guard phase != .closed, !suppressesBody else {
      buffer.consume(count)
      return
    }
    if answerFraming == .chunked || count < buffer.count || buffer.capacity == 0 {
      output.makeRoom(for: count + ChunkedWriter.overhead, from: worker.loop.buffers)
    } else {
      output.makePlace(for: count, from: worker.loop.buffers)
    }
    BodyFramer.frame(&buffer, count, as: answerFraming, into: &output.last)
    if isCongested { wasCongested = true }
    scheduleFlush()
  }

  func sendEnd(trailers: FieldBlock?) {
    guard phase != .closed, !suppressesBody else { return }
    BodyFramer.frameEnd(trailers, as: answerFraming, into: &output.last)
    scheduleFlush()
  }

  func closeAfterAnswer() { closesAfterAnswer = true }

  func takeOver(reserved bytes: Int) {
    reserved += bytes
    if phase == .closed || output.isEmpty { releaseReserved() }
  }

  func releaseReserved() {
    worker.shared.buffers.release(reserved)
    reserved = 0
  }

  func abort() {
    call = nil
    // An answer that ends with its connection would look whole.
    if sentHead { transport?.resetAtEnd() }
    close()
  }

  /// The call is over: the next request may be looked at, or the connection ends.
  func callEnded() {
    call = nil
    switch phase {
    case .reply where !closesAfterAnswer && !worker.isDraining: awaitRequest()
    case .body where mayDropLeftover:
      phase = .leftover
      leftoverBytes = 0
      setReadsPaused(false)
      rateWindowStart = worker.loop.now
      arm(rateWindowStart + Self.rateWindow)
      if !isProcessing { processLater() }
    case .closed: break
    default: endAfterFlush()
    }
  }

  /// The connection is free for the next request, unless the process is to end.
  func awaitRequest() {
    if worker.isDraining { return endAfterFlush() }
    phase = .head
    if let incoming { worker.give(incoming) }
    incoming = nil
    arm(worker.loop.now + worker.timeouts.idle)
    setReadsPaused(false)
    if !isProcessing { processLater() }
  }

  /// No more requests: closes when everything is written. What the client still sends is read and dropped for a
  /// while, because closing on unread bytes would take the answer away from it.
  func endAfterFlush() {
    guard phase != .closed else { return }
    phase = .discard
    setReadsPaused(false)
    lastProgress = worker.loop.now
    arm(lastProgress + worker.timeouts.streamIdle)
    scheduleFlush()
  }

  func scheduleFlush() {
    guard !isFlushing else { return }
    isFlushing = true
    worker.loop.flushAtTickEnd(self)
  }

  func flush() {
    isFlushing = false
    guard phase != .closed else { return }
    do throws(TransportError) {
      if try flushPipe(), !output.isEmpty { try writeOutput() }
    } catch {
      let call = call
      self.call = nil
      close()
      call?.clientLeft()
      return
    }
    let blocked = !output.isEmpty || pipe != nil
    if blocked != wantsWritable {
      wantsWritable = blocked
      updateInterest()
    }
    if blocked, !wasCongested {
      // What is not taken now waits in the kernel on the other side: a buffer that holds something would have to be
      // copied to take more.
      wasCongested = true
      call?.clientCongested()
    } else if wasCongested, !blocked {
      wasCongested = false
      call?.clientDrained()
    }
    guard phase != .closed else { return }
    // Asked anew: room at the client may have brought more.
    if output.isEmpty, pipe == nil {
      output.rest(worker.loop.buffers)
      releaseReserved()
      if phase == .discard { finishWriting() }
    }
    if !input.isEmpty { process() }
  }

  private func writeOutput() throws(TransportError) {
    let waiting = output.count
    let outcome = output.write(givingTo: worker.loop.buffers) { transport?.write(from: &$0) ?? .closed }
    // Of several buffers the first may have left where the last could not.
    if output.count < waiting { lastProgress = worker.loop.now }
    switch outcome {
    case .transferred, .wouldBlock: break
    case .closed: throw TransportError.system(SystemError(call: "send", code: 0))
    case .failed(let error): throw error
    }
  }

  private func finishWriting() {
    guard lingersUntil == nil else { return }
    guard incoming?.reader.isComplete != false, input.isEmpty, !lingers else {
      transport?.shutdownWriting()
      let end = worker.loop.now + Self.lingering
      lingersUntil = end
      arm(end)
      return
    }
    close()
  }
}
