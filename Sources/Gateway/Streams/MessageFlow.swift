import Bytes
import Compression
import HTTP1
import RPC

/// One direction of a relayed stream: bytes in, messages one by one, bytes out.
///
/// A message that both sides take as it is goes on as its bytes come, with its envelope's head, and mostly where they
/// lie; only one that has to be changed is gathered. All memory is the loop's, and given back when nothing moves.
final class MessageFlow {
  enum Step {
    /// All input that could be used is used.
    case moved
    /// There is more, but what was written has to leave first.
    case full
  }

  /// What is written at most before it has to leave, where messages may grow on the way.
  private static let outputLimit = 64 << 10

  private let direction: EnvelopeReader.Direction
  private let source: MessageSource
  private let sink: MessageSink
  /// Whether messages go on as they are.
  let isUnchanged: Bool
  private let maximumMessages: Int

  private var envelopes: EnvelopeReader
  private var text: GRPCWebText.Decoder?
  private var input = ByteBuffer()
  private(set) var output = ByteBuffer()
  private var gathered = ByteBuffer()
  private var scratch = ByteBuffer()
  private var envelope = EnvelopeHead(flags: 0, length: 0)
  private var isGathering = false
  /// Bytes of the budget that the message which is gathered takes.
  private var claimed = 0
  /// Whether a part of a message was written.
  private(set) var isInsideMessage = false
  /// Messages that began.
  private(set) var messages = 0
  /// Whether the envelope that ends the stream has come; its payload is in ``end``.
  private(set) var hasEnd = false
  private(set) var end = ByteBuffer()

  /// - Parameters:
  ///   - mayStay: whether messages may go on in their coding.
  ///   - repeats: whether there may be more than one message.
  ///   - limit: bytes of the greatest message.
  init(
    from source: MessageSource, to sink: MessageSink, _ direction: EnvelopeReader.Direction, mayStay: Bool,
    repeats: Bool, limit: Int
  ) {
    self.source = source
    self.sink = sink
    self.direction = direction
    maximumMessages = repeats ? .max : 1
    var dialect = EnvelopeDialect.grpc
    var isEnveloped = true
    switch source.form {
    case .envelopes(let its): dialect = its
    case .text(let its):
      dialect = its
      text = GRPCWebText.Decoder(direction: direction)
    case .other: isEnveloped = false
    }
    if case .other = sink.form { isEnveloped = false }
    envelopes = EnvelopeReader(
      maximumMessage: limit, dialect: dialect, direction: direction, hasCoding: source.coding != .identity)
    isUnchanged = isEnveloped && source.codec == sink.codec && (mayStay || source.coding == .identity)
  }

  /// Whether what was read said that nothing follows.
  var isOver: Bool {
    if case .other(let reader) = source.form { reader.isOver } else { false }
  }

  /// Whether what comes is envelopes, and not read by a ``MessageReader``.
  var readsEnvelopes: Bool {
    if case .other = source.form { false } else { true }
  }

  // MARK: On the spot

  /// Bytes that are missing of a head that has begun, where all else can go on as it comes.
  var missingOfHead: Int {
    guard isUnchanged, text == nil, !isGathering, !input.isEmpty else { return 0 }
    return Swift.max(0, EnvelopeHead.size - input.count)
  }

  /// Sends on what can go as it is of the first `count` bytes of the buffer, without taking it out. What is left of them
  /// is for ``append(_:_:)``: the end of the stream, the beginning of a head, or all of it.
  ///
  /// - Parameter send: takes and consumes the first bytes of the buffer, this many.
  /// - Returns: bytes that were sent.
  func pass(
    _ buffer: inout ByteBuffer, _ count: Int, _ send: (inout ByteBuffer, Int) -> Void
  ) throws(RPCError) -> Int {
    guard isUnchanged, text == nil, input.isEmpty, output.isEmpty, !isGathering, !envelopes.hasEnded else { return 0 }
    if case .text = sink.form { return 0 }
    var passed = 0
    let fault = scan(buffer, count, &passed)
    if passed > 0 { send(&buffer, passed) }
    if let fault { throw fault }
    return passed
  }

  /// Finds out how many bytes are whole heads of messages and what they announce.
  ///
  /// - Returns: what is wrong with what follows them.
  private func scan(_ buffer: borrowing ByteBuffer, _ count: Int, _ passed: inout Int) -> RPCError? {
    do throws(RPCError) {
      while true {
        switch try envelopes.next(buffer.span.extracting(passed..<count)) {
        case .needsMore: return nil
        case .data(let bytes): passed += bytes
        case .end: isInsideMessage = false
        case .head(let head):
          if envelopes.hasEnded {
            envelopes.putBack(head)
            return nil
          }
          try countMessage()
          isInsideMessage = true
          passed += EnvelopeHead.size
        }
      }
    } catch {
      return error
    }
  }

  // MARK: In

  /// Takes and consumes the first `count` bytes of the buffer.
  func append(_ buffer: inout ByteBuffer, _ count: Int, _ worker: Worker) throws(RPCError) {
    worker.lendBuffer(to: &input, for: count)
    guard text != nil else { return BodyFramer.frame(&buffer, count, as: .none, into: &input) }
    defer { buffer.consume(count) }
    try buffer.withSpan(0..<count) { (bytes) throws(RPCError) in try text?.decode(bytes, into: &input) }
  }

  /// Uses what has come, as far as there is room for what becomes of it.
  func advance(_ call: Call) throws(RPCError) -> Step {
    if case .other(let reader) = source.form { return try advance(reader, call) }
    while true {
      if !isUnchanged, output.count >= Self.outputLimit { return .full }
      switch try envelopes.next(&input) {
      case .needsMore: return .moved
      case .head(let head): try begin(head, call.worker)
      case .data(let count):
        if isGathering { try gather(count, call) } else { move(count, to: &output) }
      case .end: try finishEnvelope(call)
      }
    }
  }

  private func move(_ count: Int, to target: inout ByteBuffer) {
    BodyFramer.frame(&input, count, as: .none, into: &target)
  }

  /// A message is counted as its bytes come: a head that announces many takes nothing from other calls.
  private func gather(_ count: Int, _ call: Call) throws(RPCError) {
    if !envelopes.hasEnded {
      try call.claim(count)
      claimed += count
    }
    move(count, to: &gathered)
  }

  private func begin(_ head: EnvelopeHead, _ worker: Worker) throws(RPCError) {
    envelope = head
    if envelopes.hasEnded {
      isGathering = true
      return
    }
    try countMessage()
    worker.lendBuffer(to: &output, for: EnvelopeHead.size + head.length)
    // For what is there: a head alone may announce any length.
    if !isUnchanged { worker.lendBuffer(to: &gathered, for: Swift.min(head.length, input.count)) }
    if isUnchanged {
      head.write(into: &output)
      isInsideMessage = true
    } else {
      isGathering = true
    }
  }

  private func countMessage() throws(RPCError) {
    messages += 1
    if messages > maximumMessages { throw StreamRelay.wrongCount(direction, "more than one message") }
  }

  private func finishEnvelope(_ call: Call) throws(RPCError) {
    isInsideMessage = false
    guard isGathering else { return }
    isGathering = false
    defer {
      gathered.removeAll()
      call.release(claimed)
      claimed = 0
    }
    try decompress(call)
    if envelopes.hasEnded {
      hasEnd = true
      swap(&end, &gathered)
    } else {
      try writeGathered(call)
    }
  }

  private func decompress(_ call: Call) throws(RPCError) {
    call.isReplying = direction == .response
    guard envelope.isCompressed, !gathered.isEmpty else { return }
    call.worker.lendBuffer(to: &scratch)
    try gathered.withSpan { (bytes) throws(RPCError) in
      try MessageConversion.decompress(bytes, as: source.coding, call, into: &scratch)
    }
    claimed += scratch.count
    swap(&gathered, &scratch)
    scratch.removeAll()
  }

  private func writeGathered(_ call: Call) throws(RPCError) {
    if case .other(let writer) = sink.form {
      let message = Payload()
      message.codec = source.codec
      swap(&message.buffer, &gathered)
      return try writer.write(message, call, into: &output)
    }
    let start = EnvelopeHead.open(&output)
    if source.codec == sink.codec {
      output.append(gathered)
    } else {
      do throws(RPCError) {
        try gathered.withSpan { (bytes) throws(RPCError) in
          try MessageConversion.convert(bytes, to: sink.codec, call, into: &output)
        }
      } catch {
        // Of a message that cannot be written nothing is sent.
        output.truncate(to: start)
        throw error
      }
    }
    EnvelopeHead.close(&output, openedAt: start, flags: 0)
  }

  // MARK: Without envelopes

  private func advance(_ reader: any MessageReader, _ call: Call) throws(RPCError) -> Step {
    call.isReplying = direction == .response
    while output.count < Self.outputLimit {
      guard let message = try reader.next(&input, call) else { return .moved }
      try write(message, call)
    }
    return .full
  }

  private func write(_ message: Payload, _ call: Call) throws(RPCError) {
    try countMessage()
    let message = try message.converted(to: sink.codec, call)
    call.worker.lendBuffer(to: &output, for: EnvelopeHead.size + message.buffer.count)
    EnvelopeHead(flags: 0, length: message.buffer.count).write(into: &output)
    output.append(message.buffer)
  }

  // MARK: Ends

  /// The input is complete: uses the rest of it.
  ///
  /// - Throws: when it ends inside a message, or where an end is missing.
  func finish(_ call: Call) throws(RPCError) -> Step {
    if case .other(let reader) = source.form {
      call.isReplying = direction == .response
      while output.count < Self.outputLimit {
        guard let message = try reader.finish(&input, call) else { return .moved }
        try write(message, call)
      }
      return .full
    }
    try text?.finish(into: &input)
    let step = try advance(call)
    if step == .moved { try envelopes.inputClosed(leftover: input.count) }
    return step
  }

  // MARK: Out

  var hasOutput: Bool { !output.isEmpty }

  /// Bytes that ``send(_:_:)`` hands over, of messages that were changed; 0 where they go on as they come, and may be cut
  /// anywhere.
  var changedBytes: Int {
    if isUnchanged { return 0 }
    // Base64 makes four bytes of three.
    if case .text = sink.form { return (output.count + 2) / 3 * 4 }
    return output.count
  }

  /// Calls the body with what is to be sent now, in base64 if the other side reads that; it takes all of it.
  func send(_ worker: Worker, _ body: (inout ByteBuffer, Int) -> Void) {
    guard hasOutput else { return }
    if case .text = sink.form {
      // Each piece is padded: the other side can read all that it has.
      worker.lendBuffer(to: &scratch, for: output.count * 2)
      Base64.encode(output.span, into: &scratch)
      output.removeAll()
      body(&scratch, scratch.count)
    } else {
      body(&output, output.count)
    }
  }

  /// Nothing moves for now: an idle stream holds no memory.
  func rest(_ worker: Worker) {
    worker.recycle(&input)
    worker.recycle(&output)
    worker.recycle(&scratch)
    worker.recycle(&gathered)
  }

  func discard(_ worker: Worker) {
    worker.discard(&input)
    worker.discard(&end)
    worker.discard(&output)
    worker.discard(&scratch)
    worker.discard(&gathered)
  }
}
