import Bytes
import Compression
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC

/// One exchange with a service of the gateway's own: what a stream to a gRPC upstream is, without a wire.
///
/// It reads gRPC's envelopes and ends with gRPC's trailers, so that every dialect gets to it as it gets to any gRPC
/// upstream. It works at the end of the tick, because no upstream answers while it is being asked.
final class LocalExchange: UpstreamExchange, TickFlushing {
  /// No question to these services is longer.
  private static let maximumMessage = 64 << 10
  private static let codings = "gzip, br, zstd, identity"

  private unowned let worker: Worker
  private var attempt: Attempt?
  private let answerer: any LocalAnswerer
  /// Of the request's compressed messages; nil for one that is not known.
  private let coding: ContentCoding?
  private var envelopes: EnvelopeReader
  private var envelope = EnvelopeHead(flags: 0, length: 0)
  private var input = ByteBuffer()
  private var message = ByteBuffer()
  private var output = ByteBuffer()
  private let head = ResponseHead()
  private let trailers = FieldBlock()

  private var isScheduled = false
  private var isPaused = false
  private var wasCongested = false
  private var hasRequestEnded = false
  private var hasReadEnd = false
  private var hasSentHead = false
  private var hasEnded = false

  init(_ attempt: Attempt, _ worker: Worker, _ answerer: any LocalAnswerer) {
    self.attempt = attempt
    self.worker = worker
    self.answerer = answerer
    coding = Self.coding(attempt.request.fields)
    envelopes = EnvelopeReader(
      maximumMessage: Swift.min(Self.maximumMessage, worker.limits.message), dialect: .grpc, direction: .request,
      hasCoding: coding != .identity)
  }

  private static func coding(_ fields: FieldBlock) -> ContentCoding? {
    guard let index = fields.firstIndex(of: .grpcEncoding) else { return .identity }
    return fields.withValue(at: index) { ContentCoding(name: $0) }
  }

  /// Takes the request, as far as it is there.
  func begin() {
    guard let attempt else { return }
    attempt.assign(self)
    if !attempt.request.appendBody(to: &input) { attempt.takePending(into: &input) }
    hasRequestEnded = attempt.bodyIsComplete
    schedule()
  }

  private func schedule() {
    guard !isScheduled else { return }
    isScheduled = true
    worker.loop.flushAtTickEnd(self)
  }

  // MARK: From the attempt

  var isWriting: Bool { attempt != nil }
  var isCongested: Bool { input.count > Watermark.high }
  var wasReused: Bool { false }

  func send(_ buffer: inout ByteBuffer, _ count: Int) {
    BodyFramer.frame(&buffer, count, as: .none, into: &input)
    if isCongested { wasCongested = true }
    schedule()
  }

  func sendEnd(trailers: FieldBlock?) {
    hasRequestEnded = true
    schedule()
  }

  func pauseReading() { isPaused = true }

  func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    schedule()
  }

  func abandon() {
    attempt = nil
    close()
  }

  // MARK: From the answerer

  /// Sends a message, which the body appends.
  func write(_ body: (inout ByteBuffer) -> Void) {
    guard attempt != nil, !hasEnded else { return }
    let start = EnvelopeHead.open(&output)
    body(&output)
    EnvelopeHead.close(&output, openedAt: start, flags: 0)
    schedule()
  }

  /// Ends the answer; nil: it went well.
  func end(with error: RPCError?) {
    guard attempt != nil, !hasEnded else { return }
    hasEnded = true
    GRPCStatus.write(error, into: trailers)
    schedule()
  }

  // MARK: Working

  func flush() {
    isScheduled = false
    guard attempt != nil else { return }
    if !isPaused {
      do throws(RPCError) { try advance() } catch { end(with: error) }
    }
    deliver()
    guard let attempt else { return }
    if wasCongested, !isCongested {
      wasCongested = false
      attempt.drained()
    }
  }

  private func advance() throws(RPCError) {
    while !hasEnded {
      guard output.count < Watermark.high else { return schedule() }
      switch try envelopes.next(&input) {
      case .head(let its): envelope = its
      case .data(let count): BodyFramer.frame(&input, count, as: .none, into: &message)
      case .end: try take()
      case .needsMore:
        guard hasRequestEnded, !hasReadEnd else { return worker.recycle(&input) }
        hasReadEnd = true
        try envelopes.inputClosed(leftover: input.count)
        try answerer.receivedEnd(self)
      }
    }
  }

  /// A message is whole.
  private func take() throws(RPCError) {
    var taken = ByteBuffer()
    swap(&taken, &message)
    defer { worker.discard(&taken) }
    guard envelope.isCompressed, !taken.isEmpty else { return try answerer.received(taken.span, self) }
    guard let coding else {
      head.fields.append(.grpcAcceptEncoding, Self.codings)
      throw RPCError(.unimplemented, "unknown compression of a message; supported: \(Self.codings)")
    }
    var plain = ByteBuffer()
    do throws(CompressionError) {
      try Decompressor.decompress(taken.span, as: coding, limit: Self.maximumMessage, into: &plain)
    } catch {
      if case .tooLarge(let limit) = error {
        throw RPCError(.resourceExhausted, "the message is larger than the limit of \(limit) bytes")
      }
      throw RPCError(.invalidArgument, "a message is no valid \(coding.rawValue)")
    }
    try answerer.received(plain.span, self)
  }

  private func deliver() {
    while !isPaused, !output.isEmpty, let attempt {
      sendHead(attempt)
      var sent = ByteBuffer()
      swap(&sent, &output)
      let count = sent.count
      attempt.received(&sent, count)
    }
    guard hasEnded, !isPaused, output.isEmpty, let attempt else { return }
    sendHead(attempt)
    // Its head may have ended the call.
    guard self.attempt != nil else { return }
    self.attempt = nil
    attempt.received(endWith: trailers)
    close()
  }

  private func sendHead(_ attempt: Attempt) {
    guard !hasSentHead else { return }
    hasSentHead = true
    head.status = 200
    head.version = .http2
    head.fields.append(.contentType, "application/grpc+proto")
    attempt.received(head, framing: .chunked)
  }

  private func close() {
    worker.discard(&input)
    worker.discard(&message)
    worker.discard(&output)
    answerer.ended()
  }
}
