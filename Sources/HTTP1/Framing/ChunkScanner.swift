import Bytes

/// Reads the lines between the data of chunks (RFC 9112 section 7.1), byte by byte and consuming them.
struct ChunkScanner {
  private enum Phase {
    case size, whitespace, `extension`, sizeEnd, data, dataEnd, dataLineFeed
  }

  /// Bytes of all extensions of one chunk, from the byte behind the size on.
  private static let maximumExtension = 256
  private static let maximumDigits = 16
  /// Framing bytes above a fair share of the data that a whole body may have.
  private static let maximumOverhead = 16_384

  private var phase = Phase.size
  private var digits = 0
  private var extensionBytes = 0
  private var size = 0
  private var overhead = 0
  /// Bytes of the chunk's data that have not been handed out.
  private var remaining = 0

  enum Step: Equatable {
    case needsMore
    case data(Int)
    /// The chunk of size 0 was read; the trailer section follows.
    case lastChunk
  }

  mutating func next(_ input: inout ByteBuffer) throws(HTTP1Error) -> Step {
    while !input.isEmpty {
      if phase == .data {
        let count = min(remaining, input.count)
        remaining -= count
        if remaining == 0 { phase = .dataEnd }
        return .data(count)
      }
      let byte = input[0]
      let isLast = try take(byte)
      input.consume(1)
      if isLast { return .lastChunk }
    }
    return .needsMore
  }

  /// True at the end of the line of the last chunk.
  private mutating func take(_ byte: UInt8) throws(HTTP1Error) -> Bool {
    switch phase {
    case .size: try takeSize(byte)
    case .whitespace, .extension: try takeExtension(byte)
    case .sizeEnd:
      guard byte == ByteScan.lineFeed else { throw HTTP1Error(.bareCarriageReturn) }
      return try beginChunk()
    case .data: break
    case .dataEnd:
      guard byte == ByteScan.carriageReturn else { throw HTTP1Error(.missingChunkEnd) }
      phase = .dataLineFeed
    case .dataLineFeed:
      guard byte == ByteScan.lineFeed else { throw HTTP1Error(.missingChunkEnd) }
      phase = .size
    }
    return false
  }

  private mutating func takeSize(_ byte: UInt8) throws(HTTP1Error) {
    if let digit = ASCII.hexadecimalValue(byte) {
      guard digits < Self.maximumDigits, size <= Int.max >> 4 else { throw HTTP1Error(.chunkSizeTooLarge) }
      size = size << 4 | Int(digit)
      digits += 1
      return
    }
    guard digits > 0 else { throw HTTP1Error(byte == ByteScan.lineFeed ? .bareLineFeed : .invalidChunkSize) }
    switch byte {
    case ByteScan.carriageReturn: phase = .sizeEnd
    case UInt8(ascii: ";"): beginExtension(.extension)
    case ByteScan.blank, ByteScan.tab: beginExtension(.whitespace)
    case ByteScan.lineFeed: throw HTTP1Error(.bareLineFeed)
    default: throw HTTP1Error(.invalidChunkSize)
    }
  }

  private mutating func beginExtension(_ next: Phase) {
    phase = next
    extensionBytes = 1
  }

  /// Extensions are dropped (RFC 9112 section 7.1.1). Whitespace behind the size is only allowed before one.
  private mutating func takeExtension(_ byte: UInt8) throws(HTTP1Error) {
    if byte == ByteScan.lineFeed { throw HTTP1Error(.bareLineFeed) }
    if phase == .whitespace {
      if byte == UInt8(ascii: ";") {
        phase = .extension
      } else if !ByteScan.isWhitespace(byte) {
        throw HTTP1Error(.invalidChunkSize)
      }
    } else if byte == ByteScan.carriageReturn {
      phase = .sizeEnd
      return
    } else if byte < ByteScan.blank && byte != ByteScan.tab || byte == 0x7F {
      throw HTTP1Error(.invalidChunkExtension)
    }
    extensionBytes += 1
    guard extensionBytes <= Self.maximumExtension else { throw HTTP1Error(.chunkExtensionTooLong) }
  }

  private mutating func beginChunk() throws(HTTP1Error) -> Bool {
    // One-byte chunks are lawful, a stream of extensions around them is work for nothing.
    let allowance = 16 + min(size, 4_096) * 2
    overhead = max(0, overhead + digits + extensionBytes + 4 - allowance)
    guard overhead <= Self.maximumOverhead else { throw HTTP1Error(.tooMuchChunkOverhead) }
    remaining = size
    phase = .data
    size = 0
    digits = 0
    extensionBytes = 0
    return remaining == 0
  }
}
