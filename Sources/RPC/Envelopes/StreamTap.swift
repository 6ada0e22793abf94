public import Bytes
import HTTPModel

/// Watches the bytes of a response that passes untouched, to know how the call ended.
///
/// It keeps no message: only a half head and, up to a limit, the end of stream. How a gRPC response ended stands in
/// HTTP trailers; here its body is only counted and checked to be whole.
public struct StreamTap {
  /// Decompresses an end of stream; false when it cannot.
  public typealias Decompression = (_ compressed: Span<UInt8>, _ output: inout ByteBuffer) -> Bool

  /// Envelopes that began, without the end of stream.
  public private(set) var messages = 0
  /// What the end of stream said, or what was wrong with the stream. Nil: well so far.
  public private(set) var error: RPCError?
  /// The end of stream came but could not be read: too long, or compressed without a way to decompress it.
  public private(set) var isEndUnreadable = false

  /// Whether the end of stream has come whole, so that nothing of the answer is missing.
  public var isComplete: Bool { (hasEnded || endsOutside) && remaining == 0 && headBytes == 0 && !isBroken }

  /// Whether the bytes that have passed are whole messages, behind which an end may stand.
  public var isBetweenMessages: Bool { remaining == 0 && headBytes == 0 && !hasEnded && !isBroken }

  private let dialect: EnvelopeDialect
  private let maximumEnd: Int
  private let decompress: Decompression?
  /// Whether no envelope ends the response.
  private var endsOutside: Bool { dialect.endFlag == 0 }
  /// Bytes of a head that is not whole: the flags, and the length as far as it has come.
  private var headBytes = 0
  private var flags: UInt8 = 0
  private var length = 0
  private var remaining = 0
  private var ending: EnvelopeHead?
  private var end: [UInt8] = []
  private var hasEnded = false
  private var isBroken = false

  /// - Parameters:
  ///   - maximumEnd: bytes of an end of stream beyond which it is not kept.
  ///   - decompress: for ends of the coding that the response's head named.
  public init(
    dialect: EnvelopeDialect = .connect, maximumEnd: Int = EnvelopeReader.maximumEnd,
    decompress: Decompression? = nil
  ) {
    self.dialect = dialect
    self.maximumEnd = maximumEnd
    self.decompress = decompress
  }

  /// Takes note of the next bytes of the body.
  public mutating func observe(_ bytes: Span<UInt8>) {
    var at = 0
    while at < bytes.count, !isBroken {
      if remaining > 0 {
        let taken = min(remaining, bytes.count - at)
        if ending != nil, !isEndUnreadable {
          for index in at..<at + taken { end.append(bytes[index]) }
        }
        remaining -= taken
        at += taken
        if remaining == 0 { finishEnvelope() }
      } else if hasEnded {
        breaks("bytes behind the end of the stream")
      } else {
        if headBytes == 0 { flags = bytes[at] } else { length = length << 8 | Int(bytes[at]) }
        headBytes += 1
        at += 1
        if headBytes == EnvelopeHead.size { beginEnvelope() }
      }
    }
  }

  /// The body is complete.
  public mutating func ended() {
    if isBroken || isComplete { return }
    breaks(remaining > 0 || headBytes > 0 ? "the stream ended inside an envelope" : "the stream has no end of stream")
  }

  private mutating func beginEnvelope() {
    remaining = length
    length = 0
    headBytes = 0
    let envelope = EnvelopeHead(flags: flags, length: remaining)
    guard flags & ~(EnvelopeHead.compressed | dialect.endFlag) == 0 else {
      breaks("an envelope has flags \(flags)")
      return
    }
    if envelope.isEnd(in: dialect) {
      ending = envelope
      hasEnded = true
      isEndUnreadable = envelope.length > maximumEnd
    } else {
      messages &+= 1
    }
    if remaining == 0 { finishEnvelope() }
  }

  private mutating func finishEnvelope() {
    guard let ending, !isEndUnreadable else { return }
    if ending.isCompressed, !end.isEmpty {
      var plain = ByteBuffer()
      guard let decompress, decompress(end.span, &plain) else {
        isEndUnreadable = true
        return
      }
      error = reading(plain.span)
    } else {
      error = reading(end.span)
    }
    end = []
  }

  /// What the end of a response says.
  private func reading(_ end: Span<UInt8>) -> RPCError? {
    guard dialect == .grpcWeb else { return ConnectEndOfStream.read(end).error }
    let trailers = FieldBlock()
    do throws(RPCError) {
      try GRPCWebTrailers.read(end, into: trailers)
    } catch {
      return error
    }
    switch GRPCStatus.read(trailers) {
    case .ok: return nil
    case .error(let error): return error
    case .absent: return RPCError(.unknown, "the trailers have no grpc-status")
    }
  }

  private mutating func breaks(_ reason: String) {
    isBroken = true
    if error == nil { error = RPCError(.internal, reason) }
  }
}
