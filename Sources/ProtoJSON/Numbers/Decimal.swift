/// A JSON number as exact decimal: `significand * 10^exponent`, up to 38 significant digits.
struct Decimal {
  var isNegative = false
  var significand: UInt128 = 0
  var exponent = 0
  /// Whether digits other than zero did not fit.
  var isCut = false
  /// Whether it has neither point nor exponent.
  var isPlain = true
  var isZero: Bool { significand == 0 }

  private static let exponentBound = 1_000_000
  private static let significandBound: UInt128 = 10_000_000_000_000_000_000_000_000_000_000_000_000

  /// Reads a number by the grammar of RFC 8259 section 6 and steps over it.
  static func scan(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> Decimal {
    var number = Decimal()
    let start = index
    if index < text.count, text[index] == UInt8(ascii: "-") {
      number.isNegative = true
      index &+= 1
    }
    let first = index
    while index < text.count, text[index] &- 48 < 10 {
      number.take(text[index] &- 48, isFraction: false)
      index &+= 1
    }
    guard index > first else { throw Fault(.syntax, at: start, "a number expected") }
    guard text[first] != UInt8(ascii: "0") || index &- first == 1 else {
      throw Fault(.syntax, at: start, "a number without leading zeros expected")
    }
    if index < text.count, text[index] == UInt8(ascii: ".") {
      number.isPlain = false
      index &+= 1
      let fraction = index
      while index < text.count, text[index] &- 48 < 10 {
        number.take(text[index] &- 48, isFraction: true)
        index &+= 1
      }
      guard index > fraction else { throw Fault(.syntax, at: start, "digits after the decimal point expected") }
    }
    if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
      number.isPlain = false
      index &+= 1
      number.exponent &+= try scanExponent(text, &index, start)
    }
    return number
  }

  private static func scanExponent(_ text: Span<UInt8>, _ index: inout Int, _ start: Int) throws(Fault) -> Int {
    var isNegative = false
    if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
      isNegative = text[index] == UInt8(ascii: "-")
      index &+= 1
    }
    let first = index
    var exponent = 0
    while index < text.count, text[index] &- 48 < 10 {
      if exponent < exponentBound { exponent = exponent &* 10 &+ Int(text[index] &- 48) }
      index &+= 1
    }
    guard index > first else { throw Fault(.syntax, at: start, "digits of the exponent expected") }
    return isNegative ? -exponent : exponent
  }

  private mutating func take(_ digit: UInt8, isFraction: Bool) {
    if significand < Self.significandBound {
      significand = significand &* 10 &+ UInt128(digit)
      if isFraction { exponent &-= 1 }
    } else {
      if digit != 0 { isCut = true }
      if !isFraction { exponent &+= 1 }
    }
  }

  enum Whole {
    case value(UInt128)
    case fraction
    case tooLarge
  }

  /// The magnitude as a whole number, times a power of ten.
  ///
  /// - Parameter limit: the largest that is wanted, at most 10^36.
  func whole(scaledBy power: Int = 0, limit: UInt128 = UInt128(UInt64.max)) -> Whole {
    guard significand != 0 else { return .value(0) }
    var value = significand
    var exponent = exponent &+ power
    while exponent < 0 {
      let (quotient, remainder) = value.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { return .fraction }
      value = quotient
      exponent &+= 1
    }
    if isCut { return exponent > 0 ? .tooLarge : .fraction }
    while exponent > 0 {
      guard value <= limit else { return .tooLarge }
      value = value &* 10
      exponent &-= 1
    }
    return value <= limit ? .value(value) : .tooLarge
  }
}
