import Bytes
import Compression
import Configuration
import EventLoops
import HTTP1
import HTTP2
import HTTPModel
import RPC

/// The way back: an upstream's answer, passed on or translated.
extension Call: AttemptOwner {
  func attempt(_ attempt: Attempt, interim head: ResponseHead) {
    if state == .passing, face.kind == .rest { client?.sendInterim(head) }
  }

  func attempt(_ attempt: Attempt, head: ResponseHead) {
    if state == .relaying { relay?.replyBegan(head) }
    if state == .asked { expectRawReply(head) }
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
    guard checkReplyLength(attempt.declaredFraming) else { return }
    status = head.status
    if face.kind == .rest { deadline = nil }
    shadow?.answerBegan(head, attempt.declaredFraming)
    PassThrough.prepareReply(head, for: self)
    tap?.begin(head)
    if tap == nil { outcome = PassThrough.outcome(ofStatus: head.status) }
    let framing = compressPassing(head, attempt.declaredFraming)
    leaveWithReply(head.fields)
    sentHead = true
    client?.sendHead(status: head.status, fields: head.fields, framing: framing, endsCall: false)
  }

  private func openTunnel(_ head: ResponseHead) {
    shadow?.skip(.streaming)
    status = 101
    sentHead = true
    deadline = nil
    head.fields.append(.connection, "upgrade")
    head.fields.append(.upgrade, "websocket")
    leaveWithReply(head.fields)
    client?.sendHead(status: 101, fields: head.fields, framing: .none, endsCall: false)
    client?.becomeTunnel()
  }

  func attempt(_ attempt: Attempt, body buffer: inout ByteBuffer, count: Int) {
    switch state {
    case .passing where download != nil: passRaw(&buffer, count, attempt)
    case .passing:
      guard checkReplyBytes(buffer, count) else { return buffer.consume(count) }
      if tap != nil { buffer.withSpan(0..<count) { tap?.observe($0) } }
      shadow?.answerReceived(buffer, count)
      sendPassing(&buffer, count)
      if client?.isCongested == true { attempt.pauseReading() }
    case .relaying: relay?.replied(&buffer, count)
    case .asked:
      // Of a raw answer the first bytes tell whether it has to fit.
      guard replyBody.count + count <= replyLimit || rawReply != nil else {
        buffer.consume(count)
        failTooLarge()
        return
      }
      guard reserve(count) else { return buffer.consume(count) }
      BodyFramer.frame(&buffer, count, as: .none, into: &replyBody)
      if let rawReply { beginRawDownload(attempt, rawReply) }
      if state == .asked, replyBody.count > replyLimit { failTooLarge() }
    case .entering, .waiting, .gathering, .ended: buffer.consume(count)
    }
  }

  func failTooLarge(_ reason: String = "over limits.message") {
    let error = UpstreamFailure(kind: .tooLarge, reason: reason).callError
    if fallsBack(after: error) { return }
    fail(error)
  }

  func pipe(for attempt: Attempt) -> SplicePipe? {
    guard state == .passing, sentHead, tap?.watchesBody != true, download == nil, passingCompressor == nil,
      !metersReply, shadow?.isTapping != true
    else { return nil }
    return client?.pipeForBody()
  }

  func attempt(_ attempt: Attempt, piped count: Int) {
    sentBytes += count
    client?.pipeFilled()
  }

  func attempt(_ attempt: Attempt, endedWith trailers: FieldBlock) {
    observeAttempt()
    switch state {
    case .passing:
      if let download { return endRawDownload(download) }
      guard endPassing() else { return }
      if let tap { outcome = tap.outcome(trailers) }
      shadow?.answerEnded(trailers)
      client?.sendEnd(trailers: trailers.isEmpty ? nil : trailers)
      finish()
    case .asked:
      guard let head = attempt.head else { return }
      do throws(RPCError) {
        try answer(head, trailers)
      } catch {
        shadow?.answered(with: error)
        if fallsBack(after: error) { return }
        fail(error)
      }
    case .relaying: relay?.replyEnded(trailers)
    case .entering, .waiting, .gathering, .ended: break
    }
  }

  func attempt(_ attempt: Attempt, failed failure: UpstreamFailure) {
    observeAttempt(failure)
    worker.metrics.upstreams.failed(upstreamName, failure.kind, shard: worker.index)
    // An upstream that keeps the deadline by its own clock may be the first: gRPC servers end a late stream with CANCEL.
    if case .reset(.cancel) = failure.kind, isAtDeadline { return deadlinePassed() }
    let error = failure.callError
    if fallsBack(after: error) { return }
    fail(error)
  }

  func attemptCongested(_ attempt: Attempt) {
    if state == .passing || state == .relaying || isUploading { client?.pauseReceiving() }
  }

  func attemptDrained(_ attempt: Attempt) {
    if state == .relaying { relay?.upstreamDrained() } else { client?.resumeReceiving() }
  }

  /// The attempt is over: counts it and tells who was entered.
  func observeAttempt(_ failure: UpstreamFailure? = nil) {
    guard let attemptStartedAt else { return }
    self.attemptStartedAt = nil
    worker.observeUpstream(upstreamName, route, since: attemptStartedAt)
    let end = AttemptEnd(upstream: upstreamName, status: attempt?.head?.status, failure: failure?.kind)
    for index in chain.leaving { chain[index].onAttemptEnd(self, end) }
  }

  /// Reads a translated answer and writes it in the caller's protocol.
  private func answer(_ head: ResponseHead, _ trailers: FieldBlock) throws(RPCError) {
    guard let backend else { return }
    isReplying = true
    let payload = try readReply(backend, head, &replyBody, trailers)
    shadow?.answered(with: payload)
    try reply(with: payload)
    worker.give(payload)
  }

  /// Reads a whole answer as a backend's protocol has it; throws the error that it is.
  func readReply(
    _ backend: any Backend, _ head: ResponseHead, _ body: inout ByteBuffer, _ trailers: FieldBlock
  ) throws(RPCError) -> Payload {
    // A comparison keeps it for long, and counts what is in it.
    let payload = worker.takePayload()
    if shadow == nil { payload.borrow(from: worker.loop.buffers, for: body.count) }
    let coding = backend.readsPlainBody ? try replyCoding(head) : .identity
    if coding == .identity || body.isEmpty {
      try backend.decodeReply(self, head, body: body.span, trailers: trailers, into: payload)
    } else {
      var plain = ByteBuffer()
      try decompressReply(body.span, as: coding, into: &plain)
      try backend.decodeReply(self, head, body: plain.span, trailers: trailers, into: payload)
    }
    return payload
  }

  /// Writes a message as the caller's whole answer, and ends the call.
  func reply(with payload: Payload) throws(RPCError) {
    let answer = worker.answer
    answer.removeAll()
    try face.encodeReply(self, payload, into: answer)
    let size = answer.body.count
    // Small ones may wait for their client uncounted, as what passes through does.
    let isCounted = size > Watermark.high
    if isCounted, !reserve(size) { return }
    send(answer)
    if isCounted, let client {
      reserved -= size
      client.takeOver(reserved: size)
    }
    finish()
  }

  func send(_ answer: Answer) {
    status = answer.status
    sentHead = true
    UnknownFieldsReport.write(self, into: answer.fields)
    leaveWithReply(answer.fields)
    let framing = answer.framing
    // A byte behind a head without a body would be the next answer's.
    if framing == .none { answer.body.removeAll() }
    let count = answer.body.count
    sentBytes += count
    client?.sendHead(status: answer.status, fields: answer.fields, framing: framing, endsCall: true)
    client?.sendBody(&answer.body, count)
    if !answer.trailers.isEmpty { client?.sendEnd(trailers: answer.trailers) }
  }

  /// Innermost first, before the head goes out.
  func leaveWithReply(_ fields: FieldBlock) {
    for index in chain.leaving { chain[index].onReply(self, fields) }
  }
}
