/// A whole body of envelopes of a call that has one message each way: where the message lies, and the end.
public struct EnvelopedBody: Sendable {
  /// Messages that were found; the first is ``message``.
  public private(set) var messages = 0
  public private(set) var message = 0..<0
  public private(set) var isCompressed = false
  /// The payload of the envelope that ends a response; nil without one.
  public private(set) var end: Range<Int>?
  public private(set) var isEndCompressed = false

  /// - Parameters:
  ///   - maximumMessage: as in ``EnvelopeReader``.
  ///   - hasCoding: as in ``EnvelopeReader``.
  ///   - needsEnd: whether a response of a dialect that ends in its body must do so.
  /// - Throws: as ``EnvelopeReader/next(_:)`` and ``EnvelopeReader/inputClosed(leftover:)``.
  public init(
    _ body: Span<UInt8>, _ dialect: EnvelopeDialect, _ direction: EnvelopeReader.Direction, maximumMessage: Int,
    hasCoding: Bool, needsEnd: Bool = true
  ) throws(RPCError) {
    let reader = EnvelopeReader(
      maximumMessage: maximumMessage, dialect: dialect, direction: direction, hasCoding: hasCoding)
    var at = 0
    while at < body.count, end == nil {
      guard body.count &- at >= EnvelopeHead.size else { break }
      let head = EnvelopeHead(body.extracting(at..<at &+ EnvelopeHead.size))
      try reader.check(head)
      let start = at &+ EnvelopeHead.size
      guard head.length <= body.count &- start else { break }
      at = start + head.length
      add(head, start..<at, endsResponse: direction == .response && head.isEnd(in: dialect))
    }
    if at < body.count {
      throw RPCError(
        reader.fault, end == nil ? "the body ends inside an envelope" : "bytes behind the end of the stream")
    }
    if direction == .response, dialect != .grpc, needsEnd, end == nil {
      throw RPCError(reader.fault, "the stream ended without its end of stream")
    }
  }

  private mutating func add(_ head: EnvelopeHead, _ payload: Range<Int>, endsResponse: Bool) {
    if endsResponse {
      end = payload
      isEndCompressed = head.isCompressed
      return
    }
    messages += 1
    guard messages == 1 else { return }
    message = payload
    isCompressed = head.isCompressed
  }
}
