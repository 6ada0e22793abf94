/// Powers of ten, exact or to 128 bits.
enum PowersOfTen {
  /// What ``significand(_:)`` has.
  static let range = -342...324

  /// 10^0 to 10^22 are exact as Double.
  @inline(__always)
  static func exact(_ exponent: Int) -> Double {
    switch exponent {
    case 0: 1
    case 1: 1e1
    case 2: 1e2
    case 3: 1e3
    case 4: 1e4
    case 5: 1e5
    case 6: 1e6
    case 7: 1e7
    case 8: 1e8
    case 9: 1e9
    case 10: 1e10
    case 11: 1e11
    case 12: 1e12
    case 13: 1e13
    case 14: 1e14
    case 15: 1e15
    case 16: 1e16
    case 17: 1e17
    case 18: 1e18
    case 19: 1e19
    case 20: 1e20
    case 21: 1e21
    default: 1e22
    }
  }

  /// 10^0 to 10^8.
  @inline(__always)
  static func integer(_ exponent: Int) -> UInt64 {
    switch exponent {
    case 0: 1
    case 1: 10
    case 2: 100
    case 3: 1_000
    case 4: 10_000
    case 5: 100_000
    case 6: 1_000_000
    case 7: 10_000_000
    default: 100_000_000
    }
  }

  /// The upper 128 bits of a power of ten, the first of which is 1.
  ///
  /// Cut, but rounded up from 10^-27 to 10^-1; exact from 10^0 to 10^55. The exponent must be in ``range``.
  static func significand(_ exponent: Int) -> (high: UInt64, low: UInt64) {
    let at = (exponent &- range.lowerBound) &* 2
    return (significands[at], significands[at &+ 1])
  }

  /// floor(log2(10^exponent)) for exponents in ``range``.
  @inline(__always)
  static func binaryExponent(_ exponent: Int) -> Int { (exponent &* 1_741_647) >> 19 }

  /// Pairs of words, computed at first use: that takes less time than it takes to read a line about it, and a table in
  /// the source could not be checked by eye.
  private static let significands: [UInt64] = {
    var pairs = [UInt64](repeating: 0, count: range.count * 2)
    func put(_ exponent: Int, _ number: [UInt64], roundsUp: Bool) {
      let top = UInt128(leading: number) + (roundsUp ? 1 : 0)
      let at = (exponent - range.lowerBound) * 2
      pairs[at] = UInt64(top >> 64)
      pairs[at + 1] = UInt64(truncatingIfNeeded: top)
    }
    // Only powers of five have to be computed: factors of two move the bits and change none.
    var power = [UInt64](repeating: 0, count: 21)
    power[0] = 1
    for exponent in 0...range.upperBound {
      put(exponent, power, roundsUp: false)
      multiplyByFive(&power)
    }
    var reciprocal = [UInt64](repeating: 0, count: 21)
    reciprocal[20] = 1
    for exponent in 1...(-range.lowerBound) {
      divideByFive(&reciprocal)
      put(-exponent, reciprocal, roundsUp: exponent <= 27)
    }
    return pairs
  }()

  private static func multiplyByFive(_ number: inout [UInt64]) {
    var carry: UInt64 = 0
    for index in number.indices {
      let (high, low) = number[index].multipliedFullWidth(by: 5)
      let (sum, overflow) = low.addingReportingOverflow(carry)
      number[index] = sum
      carry = high + (overflow ? 1 : 0)
    }
  }

  private static func divideByFive(_ number: inout [UInt64]) {
    var remainder: UInt64 = 0
    for index in number.indices.reversed() {
      (number[index], remainder) = (5 as UInt64).dividingFullWidth((remainder, number[index]))
    }
  }
}

extension UInt128 {
  /// The first 128 bits, from the first 1 on, of a number whose lowest word is the first; zeros where it ends.
  fileprivate init(leading number: [UInt64]) {
    guard let top = number.lastIndex(where: { $0 != 0 }) else {
      self = 0
      return
    }
    func word(_ index: Int) -> UInt64 { index < 0 ? 0 : number[index] }
    let shift = UInt64(word(top).leadingZeroBitCount)
    let high = word(top) << shift | (shift == 0 ? 0 : word(top - 1) >> (64 - shift))
    let low = word(top - 1) << shift | (shift == 0 ? 0 : word(top - 2) >> (64 - shift))
    self = UInt128(high) << 64 | UInt128(low)
  }
}
