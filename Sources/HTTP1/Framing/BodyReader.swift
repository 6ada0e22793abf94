public import Bytes
public import HTTPModel

/// Takes a message body out of a connection's bytes, as its framing says (RFC 9112 sections 6 and 7).
///
/// It reads nothing of what follows the message.
public struct BodyReader {
  public enum Event: Equatable, Sendable {
    case needsMore
    /// So many bytes at the front of the input are body. The caller consumes exactly them before the next call.
    case data(Int)
    /// The body is complete, its trailers are there. Given again when asked again.
    case end
  }

  private enum State {
    case length(remaining: Int)
    case chunks
    case trailers
    case untilClose
    case done
  }

  private var state: State
  private var chunks = ChunkScanner()
  private var section = FieldSectionScanner(position: 0)
  private var isClosed = false
  private var failure: HTTP1Error?
  private let limits: HeadLimits

  /// - Parameter limits: of the trailer section.
  public init(framing: BodyFraming, limits: HeadLimits) {
    self.limits = limits
    state =
      switch framing {
      case .none: .done
      case .length(let length): length > 0 ? .length(remaining: length) : .done
      case .chunked: .chunks
      case .untilClose: .untilClose
      }
  }

  /// Whether all of the body has been handed out.
  public var isComplete: Bool {
    if case .done = state { true } else { false }
  }

  /// Bytes that are still to come of a body with a length; nil for other framings.
  public var remainingLength: Int? {
    if case .length(let remaining) = state { remaining } else { nil }
  }

  /// Says that so many bytes of a body with a length went another way, past the input. At most what remains.
  public mutating func skip(_ count: Int) {
    guard case .length(let remaining) = state, count > 0 else { return }
    state = count >= remaining ? .done : .length(remaining: remaining - count)
  }

  /// The next piece of the body.
  ///
  /// Chunk lines are consumed as they are read. Trailer fields land in `trailers` before `end`; those that have no
  /// business in a trailer section (framing, routing, authentication, …) are dropped.
  public mutating func next(_ input: inout ByteBuffer, trailers: FieldBlock) throws(HTTP1Error) -> Event {
    if let failure { throw failure }
    do throws(HTTP1Error) {
      return try read(&input, trailers)
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func read(_ input: inout ByteBuffer, _ trailers: FieldBlock) throws(HTTP1Error) -> Event {
    switch state {
    case .done:
      return .end
    case .length(let remaining):
      guard !input.isEmpty else { return .needsMore }
      let count = min(remaining, input.count)
      state = count == remaining ? .done : .length(remaining: remaining - count)
      return .data(count)
    case .untilClose:
      if !input.isEmpty { return .data(input.count) }
      guard isClosed else { return .needsMore }
      state = .done
      return .end
    case .chunks:
      switch try chunks.next(&input) {
      case .needsMore: return .needsMore
      case .data(let count): return .data(count)
      case .lastChunk: state = .trailers
      }
      return try readTrailers(&input, trailers)
    case .trailers:
      return try readTrailers(&input, trailers)
    }
  }

  private mutating func readTrailers(_ input: inout ByteBuffer, _ trailers: FieldBlock) throws(HTTP1Error) -> Event {
    let isEnd: Bool
    do {
      let bytes = input.span.extracting(first: limits.maximumBytes)
      isEnd = try section.scan(bytes, into: trailers, maximumFields: limits.maximumFields)
      if !isEnd, bytes.count == limits.maximumBytes { throw HTTP1Error(.headTooLarge) }
    }
    guard isEnd else { return .needsMore }
    input.consume(section.position)
    TrailerFields.removeForbidden(from: trailers)
    state = .done
    return .end
  }

  /// Says that no more bytes will come. Call it after `next` has answered `needsMore`.
  ///
  /// Fine when the body is complete or ends with the connection, `next` then answers `end`; else it is truncated.
  public mutating func inputClosed() throws(HTTP1Error) {
    if let failure { throw failure }
    switch state {
    case .done: return
    case .untilClose: isClosed = true
    default:
      failure = HTTP1Error(.truncatedBody)
      throw HTTP1Error(.truncatedBody)
    }
  }
}
