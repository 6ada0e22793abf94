import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import ProtobufSchema
import RPC

/// A streaming call whose two sides speak differently: takes each message out of the one protocol and puts it into the
/// other, in both directions at the same time, and turns the one's end into the other's.
///
/// Back-pressure goes through it: where one side takes no more, the other is not read. A message is held only to be
/// changed, and then counts against `limits.message` and `limits.buffers`.
final class StreamRelay {
  /// What is known of the answer.
  private enum Answer {
    case waited
    /// Its head says how it ended; if bytes come nevertheless, they are messages of this coding.
    case endInHead(ContentCoding)
    case failure
    case messages(MessageFlow)
  }

  private unowned let call: Call
  private let face: any StreamFace
  private let backend: any StreamBackend
  private let requestCoding: ContentCoding
  private let request: MessageFlow
  /// Makes the upstream request of the messages, where its body is no envelopes.
  private let requestWriter: (any MessageWriter)?
  private var hasRequestEnded = false
  private var answer = Answer.waited
  /// A request that is sent when its first message was read; one that cannot be read is refused, and asks nobody.
  private var late: (request: UpstreamRequest, upstream: Int)?
  /// The whole request, where it is one message that was read before.
  private let message: Payload?
  /// Of the answer's messages that are flagged as compressed, for its head.
  private var headCoding = ContentCoding.identity
  /// The beginning of an answer that is an error.
  private var failure = ByteBuffer()
  /// Of an answer that has ended while its last messages wait for the caller.
  private var lateTrailers: FieldBlock?
  private var waitingRequests = WaitingMessages()
  private var waitingReplies = WaitingMessages()

  private static let maximumFailure = 64 << 10

  /// - Parameters:
  ///   - upstreamRequest: what will be sent.
  ///   - message: the request, where the face gathered it; nil where its messages are still to come.
  init(
    _ call: Call, _ face: any StreamFace, _ backend: any StreamBackend, _ upstreamRequest: UpstreamRequest,
    message: Payload? = nil
  ) throws(RPCError) {
    self.call = call
    self.face = face
    self.backend = backend
    self.message = message
    let source =
      message == nil ? try face.source(call) : MessageSource(form: .envelopes(.grpc), codec: backend.codec)
    let sink = MessageSink(form: try backend.requestForm(call, upstreamRequest), codec: backend.codec)
    if case .other(let writer) = sink.form { requestWriter = writer } else { requestWriter = nil }
    // What the caller cannot be answered in is refused before anybody is asked.
    call.replyCodec = try face.sink(call).codec
    request = MessageFlow(
      from: source, to: sink, .request, mayStay: true,
      repeats: call.route?.plan.type.isClientStreaming ?? true, limit: call.requestMessageLimit)
    requestCoding = request.isUnchanged ? source.coding : .identity
  }

  func writeRequest(into request: UpstreamRequest) throws(RPCError) {
    if let requestWriter {
      guard let message else { return }
      var rest = ByteBuffer()
      try requestWriter.write(message, call, into: &rest)
      return try requestWriter.finish(call)
    }
    request.method = .post
    // Where no envelopes come an empty body, too, may be a message.
    request.framing = call.hasRequestBody || !self.request.readsEnvelopes ? .chunked : .length(0)
    if let message {
      let plain = try message.converted(to: backend.codec, call)
      request.body = plain
      request.envelope = EnvelopeHead(flags: 0, length: plain.buffer.count)
      request.framing = .length(EnvelopeHead.size + plain.buffer.count)
    }
    try backend.writeRequest(call, coding: requestCoding, into: request)
  }

  /// Sends the request, now or when its first message was read.
  func start(_ request: UpstreamRequest, upstream: Int) {
    if message != nil || self.request.readsEnvelopes && requestWriter == nil {
      call.start(request, upstream: upstream)
    } else {
      late = (request, upstream)
    }
  }

  /// Whether nobody was asked so far.
  var isWaiting: Bool { late != nil }

  // MARK: The request

  func received(_ buffer: inout ByteBuffer, _ count: Int) {
    // Whatever is wrong with these bytes, the connection goes on behind them: what is left of them would be taken for
    // its next request.
    let behind = buffer.count - count
    defer { buffer.consume(buffer.count - behind) }
    do {
      let begun = Swift.min(count, request.missingOfHead)
      if begun > 0 {
        try request.append(&buffer, begun, call.worker)
        try moveRequest()
      }
      let rest = try passRequest(&buffer, count - begun)
      guard rest > 0 else { return }
      try request.append(&buffer, rest, call.worker)
      try moveRequest()
    } catch {
      call.fail(error)
    }
  }

  /// Sends on what goes on as it is; how much is left of it.
  private func passRequest(_ buffer: inout ByteBuffer, _ count: Int) throws(RPCError) -> Int {
    guard late == nil, let attempt = call.attempt, !attempt.bodyIsComplete else { return count }
    let passed = try request.pass(&buffer, count) { attempt.send(&$0, $1) }
    if passed > 0, attempt.isCongested { call.client?.pauseReceiving() }
    return count - passed
  }

  func receivedEnd() {
    hasRequestEnded = true
    do { try moveRequest() } catch { call.fail(error) }
  }

  /// The upstream takes more.
  func upstreamDrained() {
    waitingRequests.settle(isCongested: false, call)
    do {
      if try moveRequest() { call.client?.resumeReceiving() }
    } catch {
      call.fail(error)
    }
  }

  /// Moves what there is; false when the upstream takes no more for now.
  @discardableResult
  private func moveRequest() throws(RPCError) -> Bool {
    if let late {
      let step = hasRequestEnded ? try request.finish(call) : try request.advance(call)
      let isWhole = step == .moved && hasRequestEnded
      guard request.hasOutput || isWhole else { return true }
      if isWhole { try requestWriter?.finish(call) }
      self.late = nil
      call.start(late.request, upstream: late.upstream)
      guard call.state == .relaying else { return false }
    }
    guard let attempt = call.attempt, !attempt.bodyIsComplete else {
      request.rest(call.worker)
      return true
    }
    while true {
      let step = hasRequestEnded ? try request.finish(call) : try request.advance(call)
      try waitingRequests.add(request.changedBytes, call)
      request.send(call.worker) { attempt.send(&$0, $1) }
      let isCongested = attempt.isCongested
      waitingRequests.settle(isCongested: isCongested, call)
      if step == .moved {
        request.rest(call.worker)
        if hasRequestEnded { attempt.sendEnd(trailers: nil) }
        if isCongested { call.client?.pauseReceiving() }
        return !isCongested
      }
      if isCongested {
        call.client?.pauseReceiving()
        return false
      }
    }
  }

  // MARK: The answer

  func replyBegan(_ head: ResponseHead) {
    do throws(RPCError) {
      call.isReplying = true
      switch try backend.readHead(call, head) {
      case .messages(let coding): _ = try begin(coding, head)
      case .end(let coding): answer = .endInHead(coding)
      case .failure: answer = .failure
      }
    } catch {
      call.fail(error)
    }
  }

  /// Sends the answer's head.
  private func begin(_ coding: ContentCoding, _ head: ResponseHead) throws(RPCError) -> MessageFlow {
    let flow = MessageFlow(
      from: MessageSource(form: try backend.replyForm(call, head), codec: backend.codec, coding: coding),
      to: try face.sink(call), .response, mayStay: call.callerAccepts(coding),
      repeats: call.route?.plan.type.isServerStreaming ?? true, limit: call.replyMessageLimit)
    answer = .messages(flow)
    headCoding = flow.isUnchanged ? coding : .identity
    if !face.headWaits(call) { sendHead() }
    return flow
  }

  private func sendHead() {
    let fields = call.worker.answer.fields
    fields.removeAll()
    face.writeHead(call, coding: headCoding, into: fields)
    call.sendRelayedHead(fields)
  }

  func replied(_ buffer: inout ByteBuffer, _ count: Int) {
    let behind = buffer.count - count
    defer { buffer.consume(buffer.count - behind) }
    do throws(RPCError) {
      switch answer {
      case .messages(let flow): try replied(flow, &buffer, count)
      case .endInHead(let coding):
        guard let head = call.attempt?.head else { return }
        try replied(begin(coding, head), &buffer, count)
      case .failure:
        let kept = Swift.min(count, Self.maximumFailure - failure.count)
        if kept > 0 { failure.append(buffer, 0..<kept) }
        buffer.consume(count)
      case .waited: buffer.consume(count)
      }
    } catch {
      call.fail(error)
    }
  }

  private func replied(_ flow: MessageFlow, _ buffer: inout ByteBuffer, _ count: Int) throws(RPCError) {
    let begun = Swift.min(count, flow.missingOfHead)
    if begun > 0 {
      try flow.append(&buffer, begun, call.worker)
      try moveReply(flow)
    }
    let count = count - begun
    let passed = try flow.pass(&buffer, count) { send(&$0, $1) }
    guard let client = call.client else { return buffer.consume(count - passed) }
    if passed > 0, client.isCongested { call.attempt?.pauseReading() }
    guard passed < count else { return }
    try flow.append(&buffer, count - passed, call.worker)
    if try moveReply(flow), flow.isOver { try endEarly(flow) }
  }

  /// The upstream said that nothing follows; its body may stay open.
  private func endEarly(_ flow: MessageFlow) throws(RPCError) {
    call.attempt?.cancel()
    call.observeAttempt()
    try finish(flow, FieldBlock())
  }

  /// The caller takes more.
  func clientDrained() {
    waitingReplies.settle(isCongested: false, call)
    guard case .messages(let flow) = answer else {
      call.attempt?.resumeReading()
      return
    }
    do throws(RPCError) {
      guard try moveReply(flow) else { return }
      if let lateTrailers {
        try finish(flow, lateTrailers)
      } else if flow.isOver {
        try endEarly(flow)
      } else {
        call.attempt?.resumeReading()
      }
    } catch {
      call.fail(error)
    }
  }

  /// Moves what there is; false when the caller takes no more for now.
  @discardableResult
  private func moveReply(_ flow: MessageFlow) throws(RPCError) -> Bool {
    while true {
      // What was good before a fault is sent before the error is told.
      let result = Result { () throws(RPCError) in try flow.advance(call) }
      try send(flow)
      let step = try result.get()
      guard let client = call.client else { return false }
      let isCongested = client.isCongested
      if isCongested { call.attempt?.pauseReading() }
      if step == .moved {
        flow.rest(call.worker)
        return !isCongested
      }
      if isCongested { return false }
    }
  }

  private func send(_ flow: MessageFlow) throws(RPCError) {
    guard flow.hasOutput else { return }
    try waitingReplies.add(flow.changedBytes, call)
    flow.send(call.worker) { send(&$0, $1) }
    waitingReplies.settle(isCongested: call.client?.isCongested == true, call)
  }

  private func send(_ bytes: inout ByteBuffer, _ count: Int) {
    if !call.sentHead { sendHead() }
    call.sentBytes += count
    if let client = call.client { client.sendBody(&bytes, count) } else { bytes.consume(count) }
  }

  /// Whether an end would be understood now.
  var isBetweenReplies: Bool {
    if case .messages(let flow) = answer { return !flow.isInsideMessage }
    return false
  }

  // MARK: Ending

  /// The upstream's answer is whole.
  func replyEnded(_ trailers: FieldBlock) {
    do throws(RPCError) {
      guard let head = call.attempt?.head else { return }
      call.isReplying = true
      switch answer {
      case .messages(let flow):
        guard try moveReply(flow) else { return keep(trailers) }
        try finish(flow, trailers)
      case .endInHead(let coding):
        if let error = backend.readEnd(call, nil, head: head.fields, trailers: trailers) { throw error }
        if call.route?.plan.type.isServerStreaming == false { throw Self.wrongCount(.response, "no message") }
        _ = try begin(coding, head)
        try end(with: nil)
      case .failure:
        throw failure.withSpan { backend.readFailure(call, head, $0, trailers: trailers) }
      case .waited: throw RPCError(.internal, "the upstream's answer has no head")
      }
    } catch {
      call.fail(error)
    }
  }

  /// The caller has to take the last messages before it is told the end.
  private func keep(_ trailers: FieldBlock) {
    let kept = FieldBlock()
    kept.append(contentsOf: trailers)
    lateTrailers = kept
  }

  private func finish(_ flow: MessageFlow, _ trailers: FieldBlock) throws(RPCError) {
    var step = MessageFlow.Step.full
    while step == .full {
      let result = Result { () throws(RPCError) in try flow.finish(call) }
      try send(flow)
      do throws(RPCError) {
        step = try result.get()
      } catch {
        // An error in the trailers is why the body ends where it does.
        guard backend.dialect == .grpc, trailers.contains(.grpcStatus),
          let told = backend.readEnd(call, nil, head: nil, trailers: trailers)
        else { throw error }
        throw told
      }
      if step == .full, call.client?.isCongested == true {
        if lateTrailers == nil { keep(trailers) }
        return
      }
    }
    let error =
      flow.hasEnd
      ? flow.end.withSpan { backend.readEnd(call, $0, head: nil, trailers: trailers) }
      : backend.readEnd(call, nil, head: nil, trailers: trailers)
    if error == nil, flow.messages == 0, call.route?.plan.type.isServerStreaming == false {
      throw Self.wrongCount(.response, "no message")
    }
    try end(with: error)
  }

  private func end(with error: RPCError?) throws(RPCError) {
    if let error, !call.sentHead || !face.tellsErrors(call) { throw error }
    if let whole = face.wholeReply(call) { return try call.reply(with: whole) }
    if !call.sentHead { sendHead() }
    let answer = call.worker.answer
    answer.removeAll()
    face.writeEnd(call, error, into: &answer.body, trailers: answer.trailers)
    call.sentBytes += answer.body.count
    call.client?.sendBody(&answer.body, answer.body.count)
    call.client?.sendEnd(trailers: answer.trailers.isEmpty ? nil : answer.trailers)
    call.error = error
    call.outcome = error?.code
    call.finish()
  }

  /// Gives memory back; the call is over.
  func close() {
    waitingReplies.pass(to: call.client, call)
    request.discard(call.worker)
    if case .messages(let flow) = answer { flow.discard(call.worker) }
    call.worker.discard(&failure)
  }
}
