/// Decimal digits, eight at a time.
enum DigitScan {
  private static let zeros: UInt64 = 0x3030_3030_3030_3030

  /// Up to eight digits at an index, at which at least eight bytes must be left.
  @inline(__always)
  static func block(_ text: Span<UInt8>, _ index: Int) -> (value: UInt64, count: Int) {
    let word = UInt64(littleEndian: unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    let lanes = word ^ zeros
    // The highest bit of a lane that is no digit: 10 to 127 reach it by the sum, the others have it.
    let foreign = ((lanes &+ 0x7676_7676_7676_7676) | lanes) & 0x8080_8080_8080_8080
    if foreign == 0 { return (join(lanes), 8) }
    let count = foreign.trailingZeroBitCount >> 3
    if count == 0 { return (0, 0) }
    // Zeros in front make it eight digits.
    return (join(lanes &<< UInt64(64 &- count &* 8)), count)
  }

  /// The number that eight lanes spell, each 0 to 9, the first lane first.
  @inline(__always)
  private static func join(_ lanes: UInt64) -> UInt64 {
    let pairs = (lanes &* 10 &+ (lanes >> 8)) & 0x00FF_00FF_00FF_00FF
    let fours = (pairs &* 100 &+ (pairs >> 16)) & 0x0000_FFFF_0000_FFFF
    return (fours &* 10_000 &+ (fours >> 32)) & 0xFFFF_FFFF
  }

  /// Appends the digits at an index to a number and steps over them; the number is meaningless beyond 19 digits.
  ///
  /// - Returns: how many there were.
  @inline(__always)
  static func take(_ text: Span<UInt8>, _ index: inout Int, into value: inout UInt64) -> Int {
    let start = index
    while text.count &- index >= 8 {
      let block = block(text, index)
      value = value &* PowersOfTen.integer(block.count) &+ block.value
      index &+= block.count
      if block.count < 8 { return index &- start }
    }
    while index < text.count, text[index] &- 48 < 10 {
      value = value &* 10 &+ UInt64(text[index] &- 48)
      index &+= 1
    }
    return index &- start
  }
}

/// A number of at most 19 digits: `significand * 10^exponent`.
struct ShortNumber {
  var isNegative = false
  var significand: UInt64 = 0
  var exponent = 0

  /// Reads a number and steps over it; nil, and nothing is stepped over, for one that is longer or malformed.
  @inline(__always)
  init?(_ text: Span<UInt8>, _ index: inout Int) {
    var at = index
    if at < text.count, text[at] == UInt8(ascii: "-") {
      isNegative = true
      at &+= 1
    }
    let first = at
    var digits = DigitScan.take(text, &at, into: &significand)
    guard digits > 0, digits == 1 || text[first] != UInt8(ascii: "0") else { return nil }
    if at < text.count, text[at] == UInt8(ascii: ".") {
      at &+= 1
      let decimals = DigitScan.take(text, &at, into: &significand)
      guard decimals > 0 else { return nil }
      digits &+= decimals
      exponent = 0 &- decimals
    }
    guard digits <= 19 else { return nil }
    if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
      at &+= 1
      var isBelow = false
      if at < text.count, text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+") {
        isBelow = text[at] == UInt8(ascii: "-")
        at &+= 1
      }
      var power: UInt64 = 0
      let length = DigitScan.take(text, &at, into: &power)
      guard length > 0, length <= 8 else { return nil }
      exponent &+= isBelow ? 0 &- Int(power) : Int(power)
    }
    index = at
  }
}
