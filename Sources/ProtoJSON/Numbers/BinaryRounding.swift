/// The floating point value nearest to `significand * 10^exponent`, by two multiplications.
///
/// The algorithm is that of Eisel and Lemire ("Number Parsing at a Gigabyte per Second", 2021), without a fallback since
/// Mushtak and Lemire ("Fast Number Parsing Without Fallback", 2023) proved that none is needed.
enum BinaryRounding {
  /// What is special to one width.
  private struct Format {
    /// Without the leading bit, which is not stored.
    let significandBits: UInt64
    let bias: Int
    let infinity: Int
    /// Exponents of ten at which a value can lie just between two neighbours.
    let ties: ClosedRange<Int>
    /// Smaller ones are zero, greater ones infinite.
    let powers: ClosedRange<Int>
  }

  private static let double = Format(
    significandBits: 52, bias: 1_023, infinity: 0x7FF, ties: -4...23, powers: -342...308)
  private static let float = Format(significandBits: 23, bias: 127, infinity: 0xFF, ties: -17...10, powers: -64...38)

  /// Infinite beyond the largest double.
  static func double(_ significand: UInt64, _ exponent: Int) -> Double {
    Double(bitPattern: bits(significand, exponent, double))
  }

  static func float(_ significand: UInt64, _ exponent: Int) -> Float {
    Float(bitPattern: UInt32(truncatingIfNeeded: bits(significand, exponent, float)))
  }

  @inline(__always)
  private static func bits(_ significand: UInt64, _ exponent: Int, _ format: Format) -> UInt64 {
    let infinite = UInt64(format.infinity) << format.significandBits
    guard significand != 0, exponent >= format.powers.lowerBound else { return 0 }
    guard exponent <= format.powers.upperBound else { return infinite }
    let zeros = significand.leadingZeroBitCount
    let product = multiply(significand << UInt64(zeros), exponent, format.significandBits)
    let upper = product.high >> 63
    let shift = upper &+ 64 &- format.significandBits &- 3
    var mantissa = product.high >> shift
    var power = PowersOfTen.binaryExponent(exponent) &+ 63 &+ Int(upper) &- zeros &+ format.bias
    if power <= 0 {
      // Subnormal: the bits that do not fit are rounded away here.
      guard 1 &- power < 64 else { return 0 }
      mantissa >>= UInt64(1 &- power)
      mantissa &+= mantissa & 1
      mantissa >>= 1
      return mantissa
    }
    if product.low <= 1, format.ties.contains(exponent), mantissa & 3 == 1, mantissa << shift == product.high {
      // Just between two values: to the even one.
      mantissa &= ~1
    }
    mantissa &+= mantissa & 1
    mantissa >>= 1
    if mantissa >= 2 << format.significandBits {
      mantissa = 1 << format.significandBits
      power &+= 1
    }
    guard power < format.infinity else { return infinite }
    return mantissa & ((1 << format.significandBits) &- 1) | UInt64(power) << format.significandBits
  }

  /// The upper 128 bits of a product with a power of ten; the second half of the power is taken only if it matters.
  @inline(__always)
  private static func multiply(
    _ significand: UInt64, _ exponent: Int, _ significandBits: UInt64
  ) -> (high: UInt64, low: UInt64) {
    let power = PowersOfTen.significand(exponent)
    var (high, low) = significand.multipliedFullWidth(by: power.high)
    let mask = UInt64.max >> (significandBits &+ 3)
    if high & mask == mask {
      let second = significand.multipliedFullWidth(by: power.low).high
      let (sum, overflow) = low.addingReportingOverflow(second)
      low = sum
      if overflow { high &+= 1 }
    }
    return (high, low)
  }
}
