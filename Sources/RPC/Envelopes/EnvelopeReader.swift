public import Bytes

/// Takes a stream of envelopes apart, without copying payloads. One reader for Connect, gRPC and gRPC-Web.
public struct EnvelopeReader: Sendable {
  public enum Event: Equatable, Sendable {
    case needsMore
    /// An envelope begins.
    case head(EnvelopeHead)
    /// The first bytes of the input are payload, this many.
    case data(Int)
    /// The envelope is complete.
    case end
  }

  public enum Direction: Sendable {
    case request
    case response
  }

  /// Bytes of the greatest payload that may end a response (Connect's JSON, gRPC-Web's trailers).
  public static let maximumEnd = 65_536

  private let maximumMessage: Int
  private let dialect: EnvelopeDialect
  private let direction: Direction
  private let hasCoding: Bool
  private var remaining = 0
  private var isInside = false
  /// Messages that began; the end of a response is none.
  public private(set) var messages = 0
  /// The end of the response was read: nothing may follow.
  public private(set) var hasEnded = false

  /// - Parameters:
  ///   - maximumMessage: bytes of the greatest payload that is taken; exactly so many are.
  ///   - direction: requests carry no end.
  ///   - hasCoding: whether the head named a coding other than identity. Without one a compressed message is refused.
  public init(maximumMessage: Int, dialect: EnvelopeDialect, direction: Direction, hasCoding: Bool = true) {
    self.maximumMessage = maximumMessage
    self.dialect = dialect
    self.direction = direction
    self.hasCoding = hasCoding
  }

  /// The next event; consumes heads itself.
  ///
  /// After `.data(n)` the caller takes and consumes exactly n bytes of the input before the next call.
  ///
  /// - Throws: `resource_exhausted` for a message over the limit; `internal` for a compressed one where no coding was
  ///   named, and for all other faults of an upstream. A caller's are `invalid_argument`, but `internal` for flags
  ///   that gRPC does not know (as its servers answer).
  public mutating func next(_ input: inout ByteBuffer) throws(RPCError) -> Event {
    let event = try next(input.span)
    if case .head = event { input.consume(EnvelopeHead.size) }
    return event
  }

  /// As ``next(_:)`` for bytes that stay where they are: a head is the first five of them.
  public mutating func next(_ input: Span<UInt8>) throws(RPCError) -> Event {
    if isInside {
      if remaining == 0 {
        isInside = false
        return .end
      }
      guard !input.isEmpty else { return .needsMore }
      let taken = min(remaining, input.count)
      remaining -= taken
      return .data(taken)
    }
    if hasEnded, !input.isEmpty { throw RPCError(fault, "bytes behind the end of the stream") }
    guard input.count >= EnvelopeHead.size else { return .needsMore }
    let head = EnvelopeHead(input.extracting(0..<EnvelopeHead.size))
    try check(head)
    remaining = head.length
    isInside = true
    hasEnded = direction == .response && head.isEnd(in: dialect)
    if !hasEnded { messages &+= 1 }
    return .head(head)
  }

  /// The head that ``next(_:)`` gave last is read again, as what comes next.
  public mutating func putBack(_ head: EnvelopeHead) {
    guard isInside, remaining == head.length else { return }
    remaining = 0
    isInside = false
    if hasEnded { hasEnded = false } else { messages &-= 1 }
  }

  func check(_ head: EnvelopeHead) throws(RPCError) {
    let end = direction == .response ? dialect.endFlag : 0
    guard head.flags & ~(EnvelopeHead.compressed | end) == 0 else {
      let code: Code = dialect == .connect ? fault : .internal
      throw RPCError(code, "an envelope has flags \(head.flags), which mean nothing here")
    }
    if head.isCompressed, !hasCoding {
      throw RPCError(.internal, "a message is marked as compressed, but the head names no compression")
    }
    if head.flags & end != 0 {
      guard head.length <= Self.maximumEnd else {
        throw RPCError(
          .internal, "the end of the stream has \(head.length) bytes, over the limit of \(Self.maximumEnd)")
      }
    } else if head.length > maximumMessage {
      throw RPCError(.resourceExhausted, "message of \(head.length) bytes is over the limit of \(maximumMessage)")
    }
  }

  var fault: Code { direction == .request ? .invalidArgument : .internal }

  /// The peer sent its last byte.
  ///
  /// A gRPC response ends with trailers, which the caller looks at; one of gRPC-Web that is nothing but a head with
  /// the status (trailers-only) has no end in its body, and is not asked here.
  ///
  /// - Parameter leftover: bytes that ``next(_:)`` left in the input.
  /// - Throws: as ``next(_:)``, when an envelope is cut short, or a response lacks its end.
  public func inputClosed(leftover: Int) throws(RPCError) {
    guard !isInside || remaining == 0, leftover == 0 else {
      throw RPCError(fault, "the stream ended inside an envelope")
    }
    if direction == .response, dialect != .grpc, !hasEnded {
      throw RPCError(fault, "the stream ended without its end of stream")
    }
  }
}
