import HTTPModel

/// Reads `HTTP/d.d`, byte by byte, or `HTTP/1.1` at once: it is eight bytes long.
struct VersionScanner {
  private static let prefix: StaticString = "HTTP/"
  /// The bytes of `HTTP/1.1`, the first the lowest.
  private static let usual: UInt64 = 0x312E_312F_5054_5448
  private var read = 0
  private(set) var major: UInt8 = 0
  private(set) var minor: UInt8 = 0

  var isComplete: Bool { read == 8 }

  /// Steps over `HTTP/1.1`, if that is what stands here as a whole and nothing was read of it yet.
  @inline(__always)
  mutating func takeUsual(_ bytes: Span<UInt8>, at position: Int) -> Bool {
    guard read == 0, bytes.count &- position >= 8 else { return false }
    let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
    guard UInt64(littleEndian: word) == Self.usual else { return false }
    major = 1
    minor = 1
    read = 8
    return true
  }

  mutating func take(_ byte: UInt8) throws(HTTP1Error) {
    switch read {
    case 0..<5:
      guard unsafe byte == Self.prefix.utf8Start[read] else { throw HTTP1Error(.invalidVersion) }
    case 5, 7:
      guard byte &- 48 < 10 else { throw HTTP1Error(.invalidVersion) }
      if read == 5 { major = byte &- 48 } else { minor = byte &- 48 }
    default:
      guard byte == UInt8(ascii: ".") else { throw HTTP1Error(.invalidVersion) }
    }
    read &+= 1
  }

  /// The version, when it is one that is spoken here.
  func version() throws(HTTP1Error) -> HTTPVersion {
    switch (major, minor) {
    case (1, 1): .http11
    case (1, 0): .http10
    default: throw HTTP1Error(.unsupportedVersion)
    }
  }
}
