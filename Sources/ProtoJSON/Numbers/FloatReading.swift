import Bytes
import Glibc

/// Floating point from decimal text, correctly rounded.
enum FloatReading {
  /// Reads a number at an index and steps over it.
  static func scanDouble(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> Double {
    let start = index
    let value: Double
    if let number = ShortNumber(text, &index) {
      let magnitude = double(number.significand, number.exponent)
      value = number.isNegative ? -magnitude : magnitude
    } else {
      let number = try Decimal.scan(text, &index)
      if let rounded = round(number, BinaryRounding.double) {
        value = rounded
      } else {
        value = unsafe withTerminated(text, start..<index) { unsafe strtod($0, nil) }
      }
    }
    guard value.isFinite else { throw Fault(.range, at: start, "a number in the range of a double expected") }
    return value
  }

  static func scanFloat(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> Float {
    let start = index
    let value: Float
    if let number = ShortNumber(text, &index) {
      let magnitude = float(number.significand, number.exponent)
      value = number.isNegative ? -magnitude : magnitude
    } else {
      let number = try Decimal.scan(text, &index)
      if let rounded = round(number, BinaryRounding.float) {
        value = rounded
      } else {
        value = unsafe withTerminated(text, start..<index) { unsafe strtof($0, nil) }
      }
    }
    guard value.isFinite else { throw Fault(.range, at: start, "a number in the range of a float expected") }
    return value
  }

  /// When number and power are exact as Double, one operation rounds once.
  @inline(__always)
  private static func double(_ significand: UInt64, _ exponent: Int) -> Double {
    guard significand <= 1 << 53, exponent >= -22, exponent <= 22 else {
      return BinaryRounding.double(significand, exponent)
    }
    let whole = Double(Int64(truncatingIfNeeded: significand))
    return exponent < 0 ? whole / PowersOfTen.exact(0 &- exponent) : whole * PowersOfTen.exact(exponent)
  }

  @inline(__always)
  private static func float(_ significand: UInt64, _ exponent: Int) -> Float {
    guard significand <= 1 << 24, exponent >= -10, exponent <= 10 else {
      return BinaryRounding.float(significand, exponent)
    }
    let whole = Float(Int64(truncatingIfNeeded: significand))
    let power = Float(PowersOfTen.exact(exponent.magnitude < 11 ? Int(exponent.magnitude) : 10))
    return exponent < 0 ? whole / power : whole * power
  }

  /// The value of a longer number; nil when digits behind the nineteenth decide.
  private static func round<Value: BinaryFloatingPoint>(
    _ number: Decimal, _ nearest: (UInt64, Int) -> Value
  ) -> Value? {
    var significand = number.significand
    var exponent = number.exponent
    var isCut = number.isCut
    while significand > UInt128(UInt64.max) {
      let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: 10)
      if remainder != 0 { isCut = true }
      significand = quotient
      exponent &+= 1
    }
    let word = UInt64(truncatingIfNeeded: significand)
    let value = nearest(word, exponent)
    // The true value lies between this one and the next.
    if isCut, word == .max || nearest(word &+ 1, exponent) != value { return nil }
    return number.isNegative ? -value : value
  }

  /// Calls the body with a copy that ends with a zero byte, as C wants it; on the stack unless it is very long.
  private static func withTerminated<R>(
    _ text: Span<UInt8>, _ range: Range<Int>, _ body: (UnsafePointer<CChar>) -> R
  ) -> R {
    let digits = text.extracting(range)
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: digits.count + 1) { room in
      for index in digits.indices { unsafe room.initializeElement(at: index, to: CChar(bitPattern: digits[index])) }
      unsafe room.initializeElement(at: digits.count, to: 0)
      guard let start = room.baseAddress else { return unsafe body("") }
      return unsafe body(start)
    }
  }

  /// A text that is nothing but a number, or one of the three names.
  static func parseDouble(_ text: Span<UInt8>, at offset: Int) throws(Fault) -> Double {
    if let special = special(text) { return special }
    return try whole(text, at: offset) { span, index throws(Fault) in try scanDouble(span, &index) }
  }

  static func parseFloat(_ text: Span<UInt8>, at offset: Int) throws(Fault) -> Float {
    if let special = special(text) { return Float(special) }
    return try whole(text, at: offset) { span, index throws(Fault) in try scanFloat(span, &index) }
  }

  private static func whole<R>(
    _ text: Span<UInt8>, at offset: Int, _ scan: (Span<UInt8>, inout Int) throws(Fault) -> R
  ) throws(Fault) -> R {
    var index = 0
    do {
      let value = try scan(text, &index)
      if index == text.count { return value }
    } catch {
      throw Fault(error.kind == .syntax ? .type : error.kind, at: offset, error.reason)
    }
    throw Fault(.type, at: offset, "a number expected")
  }

  private static func special(_ text: Span<UInt8>) -> Double? {
    if ASCII.equal(text, "NaN") { return .nan }
    if ASCII.equal(text, "Infinity") { return .infinity }
    if ASCII.equal(text, "-Infinity") { return -.infinity }
    return nil
  }
}

extension JSONCursor {
  mutating func double() throws(Fault) -> Double {
    if byte &- 48 < 10 || byte == UInt8(ascii: "-") { return try FloatReading.scanDouble(json, &index) }
    guard byte == 0x22 else { throw mismatch("a number") }
    let start = index
    if let range = try plainString() { return try FloatReading.parseDouble(json.extracting(range), at: start) }
    var text = ByteBuffer()
    try unescape(into: &text)
    return try FloatReading.parseDouble(text.span, at: start)
  }

  mutating func float() throws(Fault) -> Float {
    if byte &- 48 < 10 || byte == UInt8(ascii: "-") { return try FloatReading.scanFloat(json, &index) }
    guard byte == 0x22 else { throw mismatch("a number") }
    let start = index
    if let range = try plainString() { return try FloatReading.parseFloat(json.extracting(range), at: start) }
    var text = ByteBuffer()
    try unescape(into: &text)
    return try FloatReading.parseFloat(text.span, at: start)
  }
}
