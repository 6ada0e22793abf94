/// The shortest decimal that rounds to a floating point value, and of those the nearest.
///
/// The algorithm is Schubfach (Giulietti, "The Schubfach way to render doubles", 2021).
struct ShortestDecimal {
  /// `digits * 10^exponent`; the last digit is not 0.
  var digits: UInt64
  var exponent: Int

  /// Of a positive finite value.
  init(_ value: Double) {
    self.init(
      fraction: value.significandBitPattern, field: Int(value.exponentBitPattern), bits: 52, bias: 1_075)
  }

  init(_ value: Float) {
    self.init(
      fraction: UInt64(value.significandBitPattern), field: Int(value.exponentBitPattern), bits: 23, bias: 150)
  }

  @inline(__always)
  private init(fraction: UInt64, field: Int, bits: UInt64, bias: Int) {
    let significand = field == 0 ? fraction : fraction | 1 << bits
    let power = (field == 0 ? 1 : field) &- bias
    // Below a power of two the neighbour is half as far.
    let isUneven = fraction == 0 && field > 1
    self.init(significand, power, isUneven)
    while true {
      let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
      if remainder != 0 || quotient == 0 { break }
      digits = quotient
      exponent &+= 1
    }
  }

  private init(_ significand: UInt64, _ power: Int, _ isUneven: Bool) {
    let isEven = significand & 1 == 0
    let scaled = significand &* 4
    exponent = (power &* 1_262_611 &- (isUneven ? 524_031 : 0)) >> 22
    let shift = UInt64(power &+ PowersOfTen.binaryExponent(-exponent) &+ 1)
    var factor = PowersOfTen.significand(-exponent)
    if exponent < -55 || exponent > 27 {
      // The table is cut here, and the next above is needed.
      let (low, overflow) = factor.low.addingReportingOverflow(1)
      factor = (overflow ? factor.high &+ 1 : factor.high, low)
    }
    let lower = Self.roundToOdd(factor, (scaled &- (isUneven ? 1 : 2)) << shift) &+ (isEven ? 0 : 1)
    let middle = Self.roundToOdd(factor, scaled << shift)
    let upper = Self.roundToOdd(factor, (scaled &+ 2) << shift) &- (isEven ? 0 : 1)
    let floor = middle / 4
    if floor >= 10 {
      // One digit less, if just one such value lies in the interval.
      let short = floor / 10
      let isBelow = lower <= short &* 40
      let isAbove = short &* 40 &+ 40 <= upper
      if isBelow != isAbove {
        digits = isAbove ? short &+ 1 : short
        exponent &+= 1
        return
      }
    }
    let isBelow = lower <= floor &* 4
    let isAbove = floor &* 4 &+ 4 <= upper
    if isBelow != isAbove {
      digits = isAbove ? floor &+ 1 : floor
      return
    }
    let half = floor &* 4 &+ 2
    digits = middle > half || (middle == half && floor & 1 != 0) ? floor &+ 1 : floor
  }

  /// The upper part of a product, the lowest bit of which tells whether anything is left below.
  @inline(__always)
  private static func roundToOdd(_ factor: (high: UInt64, low: UInt64), _ value: UInt64) -> UInt64 {
    let below = factor.low.multipliedFullWidth(by: value).high
    let product = factor.high.multipliedFullWidth(by: value)
    let (low, overflow) = product.low.addingReportingOverflow(below)
    return (overflow ? product.high &+ 1 : product.high) | (low > 1 ? 1 : 0)
  }
}
