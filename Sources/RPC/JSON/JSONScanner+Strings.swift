import Bytes

extension JSONScanner {
  /// Reads the string at the cursor, which stands on its quote.
  ///
  /// Escapes are decoded. Bytes that are no UTF-8 become U+FFFD, and lone surrogates unless they are refused: an error
  /// is worth more than its spelling.
  @_lifetime(self: copy self)
  public mutating func string() throws(JSONFault) -> String {
    advance()
    let start = index
    while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\") {
      if bytes[index] < 0x20 { throw JSONFault() }
      advance()
    }
    guard index < bytes.count else { throw JSONFault() }
    if bytes[index] == UInt8(ascii: "\"") {
      let text = String(repairing: bytes.extracting(start..<index))
      advance()
      return text
    }
    var decoded = ByteBuffer()
    decoded.append(bytes.extracting(start..<index))
    while index < bytes.count {
      let byte = bytes[index]
      advance()
      switch byte {
      case UInt8(ascii: "\""): return String(repairing: decoded.span)
      case UInt8(ascii: "\\"): try escape(into: &decoded)
      case 0..<0x20: throw JSONFault()
      default: decoded.append(byte)
      }
    }
    throw JSONFault()
  }

  /// Decodes one escape; the cursor stands behind the backslash.
  @_lifetime(self: copy self)
  private mutating func escape(into decoded: inout ByteBuffer) throws(JSONFault) {
    guard index < bytes.count else { throw JSONFault() }
    let byte = bytes[index]
    advance()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"): try append(codePoint(), to: &decoded)
    default: throw JSONFault()
    }
  }

  /// The scalar of a `\u` escape and, for a high surrogate, of the low one behind it.
  @_lifetime(self: copy self)
  private mutating func codePoint() throws(JSONFault) -> UInt32 {
    let first = try hexadecimal()
    guard first >= 0xD800, first < 0xDC00, bytes.count - index >= 6, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { return first }
    let beforeSecond = self
    advance()
    advance()
    let second = try hexadecimal()
    guard second >= 0xDC00, second < 0xE000 else {
      self = beforeSecond
      return first
    }
    return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
  }

  @_lifetime(self: copy self)
  private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
    guard bytes.count - index >= 4 else { throw JSONFault() }
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = ASCII.hexadecimalValue(bytes[index]) else { throw JSONFault() }
      value = value << 4 | UInt32(digit)
      advance()
    }
    return value
  }

  private func append(_ codePoint: UInt32, to decoded: inout ByteBuffer) throws(JSONFault) {
    let known = Unicode.Scalar(codePoint)
    if known == nil, !repairsSurrogates { throw JSONFault("half of a surrogate pair") }
    let scalar = known ?? "\u{FFFD}"
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { decoded.append(byte) }
  }
}
