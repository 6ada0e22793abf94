import Bytes
import EventLoops
import HTTP1
import HTTPModel

/// The way in: what is read becomes the answer's head, body and end.
extension UpstreamConnection {
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

  /// Interim answers (1xx) that one exchange may have: each may be as large as a head, and no window holds them back.
  private static let maximumInterimAnswers = 32

  func inputClosed() {
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
}
