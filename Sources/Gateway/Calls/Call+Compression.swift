import Bytes
import Compression
import Configuration
import HTTP1
import HTTPModel
import RPC

/// Answers are compressed by what the caller accepts.
extension Call {
  /// Compresses an answer of our own making.
  ///
  /// - Parameters:
  ///   - coding: what the upstream has compressed the body with; then nothing is left to do.
  ///   - plan: of a REST caller's route.
  func compress(
    _ answer: Answer, alreadyAs coding: ContentCoding = .identity, _ plan: CompressionPlan = .standard
  ) {
    guard coding == .identity else {
      answer.fields.vary(by: "Accept-Encoding")
      answer.fields.append(.contentEncoding, coding.rawValue)
      return
    }
    guard answer.body.count >= plan.minimumSize, plan.covers(answer.fields) else { return }
    answer.fields.vary(by: "Accept-Encoding")
    let coding = chosenCoding(plan)
    guard coding != .identity else { return }
    var small = ByteBuffer()
    do throws(CompressionError) {
      try answer.body.withSpan { (body) throws(CompressionError) in
        try Compressor.compress(body, as: coding, into: &small)
      }
    } catch {
      // The answer as it is serves the caller as well.
      worker.log(.warning, "an answer could not be compressed: \(error)")
      return
    }
    guard small.count < answer.body.count else { return }
    swap(&answer.body, &small)
    answer.fields.append(.contentEncoding, coding.rawValue)
  }

  private func chosenCoding(_ plan: CompressionPlan) -> ContentCoding {
    guard head.fields.contains(.acceptEncoding) else { return .identity }
    return AcceptEncoding(head.fields, .acceptEncoding).choose(from: plan.codings) ?? .identity
  }

  // MARK: What passes

  /// Begins to compress an answer that passes, if its route wants that, it may be, and the caller accepts it.
  ///
  /// - Returns: the framing of what is sent.
  func compressPassing(_ reply: ResponseHead, _ framing: BodyFraming) -> BodyFraming {
    guard let plan = route?.plan.compression, plan.passThrough, face.kind == .rest, head.method != .head,
      (200...203).contains(reply.status), Self.mayBeCompressed(reply.fields, framing, plan)
    else { return framing }
    reply.fields.vary(by: "Accept-Encoding")
    let coding = chosenCoding(plan)
    guard let compressor = StreamCompressor(coding) else { return framing }
    let fields = reply.fields
    fields.append(.contentEncoding, coding.rawValue)
    // They are of the bytes as they were.
    for name in [FieldName.acceptRanges, .contentMD5, .digest] { fields.remove(name) }
    if let index = fields.firstIndex(of: .etag) {
      let tag = fields.text(at: index)
      if !tag.hasPrefix("W/") {
        fields.remove(.etag)
        fields.append(.etag, "W/\(tag)")
      }
    }
    // Of a body whose length nobody knows each piece may be waited for, as with events.
    var waitsForEnd = false
    if case .length = framing { waitsForEnd = true }
    passingCompressor = PassingCompressor(compressor: compressor, flush: waitsForEnd ? .none : .piece)
    return .chunked
  }

  private static func mayBeCompressed(_ fields: FieldBlock, _ framing: BodyFraming, _ plan: CompressionPlan) -> Bool {
    switch framing {
    case .none: return false
    case .length(let length): if length < max(1, plan.minimumSize) { return false }
    case .chunked, .untilClose: break
    }
    guard !fields.contains(.contentEncoding), plan.covers(fields), fields.text(of: "content-range") == nil else {
      return false
    }
    var index = 0
    while let found = fields.nextIndex(of: .cacheControl, from: index) {
      if fields.withValue(at: found, { HeaderList.has("no-transform", in: $0) }) { return false }
      index = found + 1
    }
    return true
  }

  /// Sends body bytes on, compressed where that was begun: takes and consumes them.
  ///
  /// - Returns: false when the call has ended.
  func sendPassing(_ buffer: inout ByteBuffer, _ count: Int) {
    guard let passing = passingCompressor else {
      sentBytes += count
      client?.sendBody(&buffer, count)
      return
    }
    do throws(CompressionError) {
      try buffer.withSpan(0..<count) { (span) throws(CompressionError) in
        try passing.compressor.compress(span, passing.flush, into: &passing.output)
      }
    } catch {
      buffer.consume(count)
      fail(RPCError(.internal, "the answer could not be compressed", logDetail: "\(error)"))
      return
    }
    buffer.consume(count)
    sendCompressed(passing)
  }

  /// Sends what the compressor has held back.
  ///
  /// - Returns: false when the call has ended.
  func endPassing() -> Bool {
    guard let passing = passingCompressor else { return true }
    do throws(CompressionError) {
      try passing.compressor.compress(Span(), .end, into: &passing.output)
    } catch {
      fail(RPCError(.internal, "the answer could not be compressed", logDetail: "\(error)"))
      return false
    }
    sendCompressed(passing)
    return true
  }

  private func sendCompressed(_ passing: PassingCompressor) {
    let count = passing.output.count
    guard count > 0 else { return }
    sentBytes += count
    client?.sendBody(&passing.output, count)
  }
}

/// The compression of an answer on its way.
final class PassingCompressor {
  let compressor: StreamCompressor
  let flush: StreamCompressor.Flush
  /// Empty between two pieces.
  var output = ByteBuffer()

  init(compressor: StreamCompressor, flush: StreamCompressor.Flush) {
    self.compressor = compressor
    self.flush = flush
  }
}
