import Bytes
import Glibc

/// Floating point from decimal text, correctly rounded.
enum FloatReading {
  /// 10^0 to 10^22 are exact as Double.
  @inline(__always)
  static func exactPower(_ exponent: Int) -> Double {
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

  /// Reads a number at an index and steps over it.
  static func scanDouble(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> Double {
    let start = index
    if let value = scanShort(text, &index, maximumDigits: 15, maximumPower: 22) { return value }
    index = start
    _ = try Decimal.scan(text, &index)
    let value = unsafe withTerminated(text.extracting(start..<index)) { unsafe strtod($0, nil) }
    guard value.isFinite else { throw Fault(.range, at: start, "a number in the range of a double expected") }
    return value
  }

  static func scanFloat(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> Float {
    let start = index
    // Seven digits and ten powers are exact as Float, so that one operation rounds once.
    if let value = scanShort(text, &index, maximumDigits: 7, maximumPower: 10, asFloat: true) { return Float(value) }
    index = start
    _ = try Decimal.scan(text, &index)
    let value = unsafe withTerminated(text.extracting(start..<index)) { unsafe strtof($0, nil) }
    guard value.isFinite else { throw Fault(.range, at: start, "a number in the range of a float expected") }
    return value
  }

  /// The common case: few digits, so that one exact division gives the rounded value.
  @inline(__always)
  private static func scanShort(
    _ text: Span<UInt8>, _ index: inout Int, maximumDigits: Int, maximumPower: Int, asFloat: Bool = false
  ) -> Double? {
    var at = index
    var isNegative = false
    if at < text.count, text[at] == UInt8(ascii: "-") {
      isNegative = true
      at &+= 1
    }
    let first = at
    var significand: Int64 = 0
    while at < text.count, text[at] &- 48 < 10 {
      significand = significand &* 10 &+ Int64(text[at] &- 48)
      at &+= 1
    }
    var digits = at &- first
    guard digits > 0, digits == 1 || text[first] != UInt8(ascii: "0") else { return nil }
    var power = 0
    if at < text.count, text[at] == UInt8(ascii: ".") {
      at &+= 1
      let fraction = at
      while at < text.count, text[at] &- 48 < 10 {
        significand = significand &* 10 &+ Int64(text[at] &- 48)
        at &+= 1
      }
      power = at &- fraction
      guard power > 0 else { return nil }
      digits &+= power
    }
    guard digits <= maximumDigits, power <= maximumPower else { return nil }
    if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") { return nil }
    index = at
    let magnitude: Double
    if asFloat {
      magnitude = Double(Float(significand) / Float(exactPower(power)))
    } else {
      magnitude = Double(significand) / exactPower(power)
    }
    return isNegative ? -magnitude : magnitude
  }

  /// Calls the body with a copy that ends with a zero byte, as C wants it.
  private static func withTerminated<R>(_ text: Span<UInt8>, _ body: (UnsafePointer<CChar>) -> R) -> R {
    let copy = unsafe [CChar](unsafeUninitializedCapacity: text.count + 1) { room, count in
      for index in text.indices { unsafe room.initializeElement(at: index, to: CChar(bitPattern: text[index])) }
      unsafe room.initializeElement(at: text.count, to: 0)
      count = text.count + 1
    }
    return unsafe copy.withUnsafeBufferPointer { chars in
      guard let start = chars.baseAddress else { return unsafe body("") }
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
