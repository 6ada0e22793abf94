/// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
package enum UTF8Validation {
  /// Whether all bytes are well-formed UTF-8.
  package static func isValid(_ bytes: Span<UInt8>) -> Bool {
    firstInvalid(bytes) == nil
  }

  /// The offset of the first byte that begins no well-formed sequence.
  package static func firstInvalid(_ bytes: Span<UInt8>) -> Int? {
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
