import Bytes

/// An integer before its range is known.
struct IntegerLiteral {
  var magnitude: UInt64
  var isNegative: Bool

  /// The value as two's complement when it lies in a range.
  @inline(__always)
  func signed(_ lower: Int64, _ upper: Int64) -> Int64? {
    if isNegative {
      guard magnitude <= lower.magnitude else { return nil }
      return Int64(truncatingIfNeeded: 0 &- magnitude)
    }
    guard magnitude <= UInt64(bitPattern: upper) else { return nil }
    return Int64(truncatingIfNeeded: magnitude)
  }

  @inline(__always)
  func unsigned(_ upper: UInt64) -> UInt64? {
    magnitude <= upper && (!isNegative || magnitude == 0) ? magnitude : nil
  }

  /// Reads an integer at an index and steps over it. `1e3` and `1.0` are integers.
  @inline(__always)
  static func scan(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> IntegerLiteral {
    var at = index
    var isNegative = false
    if at < text.count, text[at] == UInt8(ascii: "-") {
      isNegative = true
      at &+= 1
    }
    let first = at
    var magnitude: UInt64 = 0
    let digits = DigitScan.take(text, &at, into: &magnitude)
    // More than 19 digits may have wrapped; a point or an exponent needs exact decimals.
    let follower = at < text.count ? text[at] : 0
    guard digits > 0, digits <= 19, digits == 1 || text[first] != UInt8(ascii: "0"),
      follower != UInt8(ascii: "."), follower | 0x20 != UInt8(ascii: "e")
    else { return try scanSlowly(text, &index) }
    index = at
    return IntegerLiteral(magnitude: magnitude, isNegative: isNegative)
  }

  @inline(never)
  private static func scanSlowly(_ text: Span<UInt8>, _ index: inout Int) throws(Fault) -> IntegerLiteral {
    let start = index
    let number = try Decimal.scan(text, &index)
    switch number.whole() {
    case .value(let magnitude):
      return IntegerLiteral(magnitude: UInt64(truncatingIfNeeded: magnitude), isNegative: number.isNegative)
    case .fraction: throw Fault(.type, at: start, "a whole number expected")
    case .tooLarge: throw Fault(.range, at: start, "a number in the range of the field expected")
    }
  }

  /// Reads a text that is nothing but an integer.
  static func parse(_ text: Span<UInt8>, at offset: Int) throws(Fault) -> IntegerLiteral {
    var index = 0
    do {
      let literal = try scan(text, &index)
      if index == text.count { return literal }
    } catch {
      throw Fault(error.kind == .syntax ? .type : error.kind, at: offset, error.reason)
    }
    throw Fault(.type, at: offset, "an integer expected")
  }
}

extension JSONCursor {
  /// Steps over an integer, bare or quoted.
  @inline(__always)
  mutating func integer() throws(Fault) -> IntegerLiteral {
    let byte = byte
    if byte &- 48 < 10 || byte == UInt8(ascii: "-") { return try IntegerLiteral.scan(json, &index) }
    guard byte == 0x22 else { throw mismatch("an integer") }
    return try quotedInteger()
  }

  mutating func quotedInteger() throws(Fault) -> IntegerLiteral {
    let start = index
    // Digits and the closing quote, as all but a few are spelt.
    let json = json
    var at = start &+ 1
    var isNegative = false
    if at < json.count, json[at] == UInt8(ascii: "-") {
      isNegative = true
      at &+= 1
    }
    let first = at
    var magnitude: UInt64 = 0
    let digits = DigitScan.take(json, &at, into: &magnitude)
    if at < json.count, json[at] == 0x22, digits > 0, digits <= 19, digits == 1 || json[first] != UInt8(ascii: "0") {
      index = at &+ 1
      return IntegerLiteral(magnitude: magnitude, isNegative: isNegative)
    }
    if let range = try plainString() { return try IntegerLiteral.parse(json.extracting(range), at: start) }
    var text = ByteBuffer()
    try unescape(into: &text)
    return try IntegerLiteral.parse(text.span, at: start)
  }
}
