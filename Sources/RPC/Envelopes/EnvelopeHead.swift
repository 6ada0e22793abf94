public import Bytes

/// The protocols that put five bytes before each message. They differ in the flags, and in where a response ends.
public enum EnvelopeDialect: Sendable {
  /// Connect streaming: the last envelope of a response is JSON (``ConnectEndOfStream``).
  case connect
  /// gRPC: a response ends with HTTP trailers, never inside its body.
  case grpc
  /// gRPC-Web, decoded from base64 where it is text: the last envelope holds the trailers (``GRPCWebTrailers``).
  case grpcWeb

  /// The flag of the envelope that ends a response; no bit for gRPC.
  public var endFlag: UInt8 {
    switch self {
    case .connect: EnvelopeHead.endOfStream
    case .grpc: 0
    case .grpcWeb: EnvelopeHead.trailers
    }
  }
}

/// The five bytes before each message of a stream: flags and a length, big-endian.
public struct EnvelopeHead: Equatable, Sendable {
  public static let size = 5
  /// The payload is compressed with the coding that the head names.
  public static let compressed: UInt8 = 0b01
  /// Connect: the end of the stream.
  public static let endOfStream: UInt8 = 0b10
  /// gRPC-Web: the trailers.
  public static let trailers: UInt8 = 0x80

  public var flags: UInt8
  /// Bytes of the payload.
  public var length: Int

  public init(flags: UInt8, length: Int) {
    self.flags = flags
    self.length = length
  }

  /// - Parameter bytes: exactly five.
  init(_ bytes: Span<UInt8>) {
    flags = bytes[0]
    length = Int(UInt32(bytes[1]) << 24 | UInt32(bytes[2]) << 16 | UInt32(bytes[3]) << 8 | UInt32(bytes[4]))
  }

  public var isCompressed: Bool { flags & Self.compressed != 0 }

  /// Whether this envelope ends a response of the dialect.
  public func isEnd(in dialect: EnvelopeDialect) -> Bool { flags & dialect.endFlag != 0 }

  /// Appends the five bytes; a length beyond 32 bits is the caller's fault.
  public func write(into output: inout ByteBuffer) {
    let length = UInt32(length)
    output.reserve(Self.size)
    output.append(flags)
    output.append(UInt8(truncatingIfNeeded: length >> 24))
    output.append(UInt8(truncatingIfNeeded: length >> 16))
    output.append(UInt8(truncatingIfNeeded: length >> 8))
    output.append(UInt8(truncatingIfNeeded: length))
  }

  /// Writes an envelope whose payload was appended already, behind five bytes that were left free at an offset.
  ///
  /// For payloads whose length is known only when they are written: no second buffer, no move.
  public static func close(_ output: inout ByteBuffer, openedAt offset: Int, flags: UInt8) {
    let length = UInt32(output.count &- offset &- size)
    output[offset] = flags
    output[offset &+ 1] = UInt8(truncatingIfNeeded: length >> 24)
    output[offset &+ 2] = UInt8(truncatingIfNeeded: length >> 16)
    output[offset &+ 3] = UInt8(truncatingIfNeeded: length >> 8)
    output[offset &+ 4] = UInt8(truncatingIfNeeded: length)
  }

  /// Leaves five bytes free for ``close(_:openedAt:flags:)``.
  ///
  /// - Returns: their offset.
  public static func open(_ output: inout ByteBuffer) -> Int {
    let offset = output.count
    EnvelopeHead(flags: 0, length: 0).write(into: &output)
    return offset
  }
}
