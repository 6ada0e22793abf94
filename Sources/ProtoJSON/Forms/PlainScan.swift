/// Whether bytes can stand in a JSON string as they are, and whether they are ASCII.
struct PlainScan {
  private var stops: UInt64 = 0
  private var high: UInt64 = 0

  static let blanks: UInt64 = 0x2020_2020_2020_2000

  /// No quote, no backslash, no control character so far.
  @inline(__always)
  var isPlain: Bool { stops & 0x8080_8080_8080_8080 == 0 }

  @inline(__always)
  var isASCII: Bool { high & 0x8080_8080_8080_8080 == 0 }

  @inline(__always)
  mutating func look(_ word: UInt64) {
    // A lane that is zero, or less than 0x20, borrows; only lanes above such a one can be taken for one too.
    let quotes = word ^ 0x2222_2222_2222_2222
    let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let ones: UInt64 = 0x0101_0101_0101_0101
    stops |= (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
    stops |= (word &- 0x2020_2020_2020_2020) & ~word
    high |= word
  }

  @inline(__always)
  mutating func look(_ block: SIMD16<UInt8>) {
    // Each comparison with its type spelt out: written as one expression they become loops over the lanes.
    let quotes: SIMDMask<SIMD16<Int8>> = block .== SIMD16(repeating: 0x22)
    let backslashes: SIMDMask<SIMD16<Int8>> = block .== SIMD16(repeating: 0x5C)
    let controls: SIMDMask<SIMD16<Int8>> = (block & SIMD16(repeating: 0xE0)) .== SIMD16(repeating: 0)
    let all: SIMDMask<SIMD16<Int8>> = quotes .| backslashes .| controls
    let mask = unsafe unsafeBitCast(all, to: SIMD2<UInt64>.self)
    let lanes = unsafe unsafeBitCast(block, to: SIMD2<UInt64>.self)
    stops |= mask[0] | mask[1]
    high |= lanes[0] | lanes[1]
  }
}
