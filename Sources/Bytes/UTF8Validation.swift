/// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
public enum UTF8Validation {
  /// Whether all bytes are well-formed UTF-8.
  public static func isValid(_ bytes: Span<UInt8>) -> Bool {
    firstInvalid(bytes) == nil
  }

  /// The offset of the first byte that begins no well-formed sequence.
  public static func firstInvalid(_ bytes: Span<UInt8>) -> Int? {
    let count = bytes.count
    var index = 0
    while index < count {
      // Eight ASCII bytes at a time.
      while count &- index >= 8 {
        var word: UInt64 = 0
        unsafe bytes.withUnsafeBytes { source in
          unsafe word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        }
        if word & 0x8080_8080_8080_8080 != 0 { break }
        index &+= 8
      }
      // Then one character after the other until the next ASCII one, which four more bytes make cheap to look at.
      while count &- index >= 4 {
        var word: UInt32 = 0
        unsafe bytes.withUnsafeBytes { source in
          unsafe word = source.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
        }
        let length = sequenceLength(word)
        if length == 0 { break }
        index &+= length
      }
      guard index < count else { break }
      let byte = bytes[index]
      if byte < 0x80 {
        index &+= 1
        continue
      }
      guard let length = sequenceLength(bytes, at: index) else { return index }
      index &+= length
    }
    return nil
  }

  /// The length of the well-formed multi-byte sequence at the beginning of four bytes, the first the lowest; 0 for
  /// another byte. Tables 3-6 and 3-7 of the Unicode standard.
  @inline(__always)
  private static func sequenceLength(_ word: UInt32) -> Int {
    if word & 0x00C0_C0F0 == 0x0080_80E0 {
      // The first six bits: 0 would be overlong, 0xD8 and above surrogates.
      let bits = word & 0x200F
      return bits != 0 && bits != 0x200D ? 3 : 0
    }
    if word & 0xC0E0 == 0x80C0 { return word & 0x1E != 0 ? 2 : 0 }
    if word & 0xC0C0_C0F8 == 0x8080_80F0 {
      let bits = word & 0x3007
      return bits != 0 && (bits & 7 < 4 || bits == 4) ? 4 : 0
    }
    return 0
  }

  /// The length of the multi-byte sequence at an offset; nil when it is malformed or cut short.
  @inline(__always)
  private static func sequenceLength(_ bytes: Span<UInt8>, at index: Int) -> Int? {
    let first = bytes[index]
    let length: Int
    var low: UInt8 = 0x80
    var high: UInt8 = 0xBF
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, low) = (3, 0xA0)
    case 0xED: (length, high) = (3, 0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, low) = (4, 0x90)
    case 0xF4: (length, high) = (4, 0x8F)
    case 0xF1...0xF3: length = 4
    default: return nil
    }
    guard bytes.count &- index >= length else { return nil }
    let second = bytes[index &+ 1]
    guard second >= low, second <= high else { return nil }
    for more in 2..<Swift.max(2, length) where bytes[index &+ more] & 0xC0 != 0x80 { return nil }
    return length
  }
}
