/// Whether bytes can stand in a JSON string as they are, and whether they are ASCII: noted for 16 bytes at a time, and
/// asked once at the end.
struct PlainScan {
  typealias Words = SIMD2<UInt64>

  private var stops = Words()
  private var high = Words()

  /// Bytes that say nothing, for the part of a block that is not filled.
  static let blanks: UInt64 = 0x2020_2020_2020_2020

  /// No quote, no backslash, no control character so far.
  @inline(__always)
  var isPlain: Bool { stops[0] | stops[1] == 0 }

  @inline(__always)
  var isASCII: Bool { (high[0] | high[1]) & 0x8080_8080_8080_8080 == 0 }

  @inline(__always)
  mutating func look(_ first: UInt64, _ last: UInt64) {
    look(unsafe unsafeBitCast(Words(first, last), to: SIMD16<UInt8>.self))
  }

  @inline(__always)
  mutating func look(_ block: SIMD16<UInt8>) {
    // Each comparison with its type spelt out: written as one expression they become loops over the lanes.
    let quotes: SIMDMask<SIMD16<Int8>> = block .== SIMD16(repeating: 0x22)
    let backslashes: SIMDMask<SIMD16<Int8>> = block .== SIMD16(repeating: 0x5C)
    let controls: SIMDMask<SIMD16<Int8>> = (block & SIMD16(repeating: 0xE0)) .== SIMD16(repeating: 0)
    let all: SIMDMask<SIMD16<Int8>> = quotes .| backslashes .| controls
    stops |= unsafe unsafeBitCast(all, to: Words.self)
    high |= unsafe unsafeBitCast(block, to: Words.self)
  }
}
