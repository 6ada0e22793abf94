package import Bytes

/// The five bytes before each message of a stream: flags and a length, big-endian.
package struct EnvelopeHead: Equatable, Sendable {
  package static let size = 5
  package static let compressed: UInt8 = 0b01
  package static let endOfStream: UInt8 = 0b10

  package var flags: UInt8
  /// Bytes of the payload.
  package var length: Int

  package init(flags: UInt8, length: Int) {
    self.flags = flags
    self.length = length
  }

  package var isCompressed: Bool { flags & Self.compressed != 0 }
  package var isEndOfStream: Bool { flags & Self.endOfStream != 0 }

  /// Appends the five bytes; a length beyond 32 bits is the caller's fault.
  package func write(into output: inout ByteBuffer) {
    let length = UInt32(length)
    output.append(flags)
    output.append(UInt8(truncatingIfNeeded: length >> 24))
    output.append(UInt8(truncatingIfNeeded: length >> 16))
    output.append(UInt8(truncatingIfNeeded: length >> 8))
    output.append(UInt8(truncatingIfNeeded: length))
  }
}

/// Takes a stream of envelopes apart, without copying payloads.
package struct EnvelopeReader: Sendable {
  package enum Event: Equatable, Sendable {
    case needsMore
    /// An envelope begins.
    case head(EnvelopeHead)
    /// The first bytes of the input are payload, this many.
    case data(Int)
    /// The envelope is complete.
    case end
  }

  private let maximumMessage: Int
  private let allowedFlags: UInt8
  private let fault: Code
  private var remaining = 0
  private var isInside = false
  /// The end of the stream was read: nothing may follow.
  package private(set) var hasEnded = false

  /// - Parameters:
  ///   - maximumMessage: bytes of the greatest payload that is taken.
  ///   - direction: requests carry no end of stream; a caller's fault is `invalid_argument`, an upstream's `internal`.
  package init(maximumMessage: Int, direction: Direction) {
    self.maximumMessage = maximumMessage
    switch direction {
    case .request: (allowedFlags, fault) = (EnvelopeHead.compressed, .invalidArgument)
    case .response: (allowedFlags, fault) = (EnvelopeHead.compressed | EnvelopeHead.endOfStream, .internal)
    }
  }

  package enum Direction: Sendable {
    case request
    case response
  }

  /// The next event; consumes heads itself.
  ///
  /// After `.data(n)` the caller takes and consumes exactly n bytes of the input before the next call.
  ///
  /// - Throws: `resource_exhausted` for a payload over the limit; else the direction's code, for flags that mean
  ///   nothing here and for bytes behind the end of the stream.
  package mutating func next(_ input: inout ByteBuffer) throws(RPCError) -> Event {
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
    let length = UInt32(input[1]) << 24 | UInt32(input[2]) << 16 | UInt32(input[3]) << 8 | UInt32(input[4])
    let head = EnvelopeHead(flags: input[0], length: Int(length))
    guard head.flags & ~allowedFlags == 0 else {
      throw RPCError(fault, "an envelope has flags \(head.flags)")
    }
    guard head.length <= maximumMessage else {
      throw RPCError(.resourceExhausted, "message of \(head.length) bytes is over the limit of \(maximumMessage)")
    }
    input.consume(EnvelopeHead.size)
    remaining = head.length
    isInside = true
    hasEnded = head.isEndOfStream
    return .head(head)
  }

  /// The peer sent its last byte.
  ///
  /// - Parameter leftover: bytes that ``next(_:)`` left in the input.
  /// - Throws: the direction's code when an envelope is cut short, or a response lacks its end of stream.
  package func inputClosed(leftover: Int) throws(RPCError) {
    guard !isInside || remaining == 0, leftover == 0 else {
      throw RPCError(fault, "the stream ended inside an envelope")
    }
    if allowedFlags & EnvelopeHead.endOfStream != 0, !hasEnded {
      throw RPCError(fault, "the stream ended without its end of stream")
    }
  }
}
