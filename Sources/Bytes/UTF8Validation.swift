/// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
public enum UTF8Validation {
  /// Whether all bytes are well-formed UTF-8.
  public static func isValid(_ bytes: Span<UInt8>) -> Bool {
    firstInvalid(bytes) == nil
  }

  /// The offset of the first byte that begins no well-formed sequence.
  public static func firstInvalid(_ bytes: Span<UInt8>) -> Int? {
    var index = 0
    while index < bytes.count {
      // Eight bytes at a time; in a word with other than ASCII on to the first such byte.
      let high = word(bytes, at: index) & 0x8080_8080_8080_8080
      if high == 0 {
        index &+= 8
        continue
      }
      index &+= high.trailingZeroBitCount &>> 3
      // Where one such character is there mostly follow more.
      while index < bytes.count {
        let next = UInt32(truncatingIfNeeded: word(bytes, at: index))
        if next & 0x80 == 0 { break }
        let length = sequenceLength(next)
        if length == 0 { return index }
        index &+= length
      }
    }
    return nil
  }

  /// The eight bytes at an offset inside, the first the lowest; zeros behind the last, which end a sequence too early and
  /// are ASCII themselves.
  @inline(__always)
  private static func word(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
    let count = bytes.count
    let source = unsafe bytes.bytes
    if count &- index >= 8 {
      return unsafe UInt64(littleEndian: source.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
    guard count >= 8 else { return shortWord(bytes, at: index) }
    let last = unsafe UInt64(littleEndian: source.unsafeLoadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    return last &>> UInt64(truncatingIfNeeded: (index &+ 8 &- count) &* 8)
  }

  /// The same of less than eight bytes altogether.
  private static func shortWord(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
    let count = bytes.count
    let source = unsafe bytes.bytes
    var word: UInt64 = 0
    if count >= 4 {
      // Both halves, the second where it belongs: bytes that are in both are the same.
      let first = UInt32(littleEndian: unsafe source.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
      let last = UInt32(littleEndian: unsafe source.unsafeLoadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
      word = UInt64(first) | UInt64(last) &<< UInt64(truncatingIfNeeded: (count &- 4) &* 8)
    } else {
      for offset in bytes.indices { word |= UInt64(bytes[offset]) &<< UInt64(truncatingIfNeeded: offset &* 8) }
    }
    return word &>> UInt64(truncatingIfNeeded: index &* 8)
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
}
