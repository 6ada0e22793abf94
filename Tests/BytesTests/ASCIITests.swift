import Bytes
import Testing

@Suite("ASCII")
struct ASCIITests {
  @Test("classes of all bytes")
  func classes() {
    for byte in UInt8.min ... .max {
      let scalar = Unicode.Scalar(byte)
      let isASCII = byte < 0x80
      let lower = isASCII ? UInt8(scalar.properties.lowercaseMapping.utf8.first ?? 0) : byte
      let isDigit = byte >= 0x30 && byte <= 0x39
      let isLetter = isASCII && scalar.properties.isAlphabetic
      let hexadecimal = isASCII ? Character(scalar).hexDigitValue.map { UInt8($0) } : nil
      #expect(ASCII.lowercased(byte) == lower, "\(byte)")
      #expect(ASCII.isDigit(byte) == isDigit, "\(byte)")
      #expect(ASCII.isAlphanumeric(byte) == (isDigit || isLetter), "\(byte)")
      #expect(ASCII.hexadecimalValue(byte) == hexadecimal, "\(byte)")
    }
  }

  @Test("equality with and without case, and by length")
  func equality() {
    #expect(Self.equal("Content-Type", "Content-Type") == true)
    #expect(Self.equal("Content-Type", "content-type") == false)
    #expect(Self.equal("Content-Type", "Content-Typ") == false)
    #expect(Self.equal("", "") == true)
    #expect(Self.equalIgnoringCase("Content-Type", "CONTENT-tYPE") == true)
    #expect(Self.equalIgnoringCase("Content-Type", "content-typ") == false)
    // These differ only in the bit that also tells the cases apart.
    #expect(Self.equalIgnoringCase("Content-Type", "content\rtype") == false)
    #expect(Self.equalIgnoringCase("@[", "`{") == false)
  }

  /// Asks in both ways: with a literal and with bytes.
  static func equal(_ left: String, _ right: StaticString) -> Bool? {
    let left = Array(left.utf8)
    let answers = [ASCII.equal(left.span, right), ASCII.equal(left.span, Array("\(right)".utf8).span)]
    return answers[0] == answers[1] ? answers[0] : nil
  }

  static func equalIgnoringCase(_ left: String, _ right: StaticString) -> Bool? {
    let left = Array(left.utf8)
    let answers = [
      ASCII.equalIgnoringCase(left.span, right), ASCII.equalIgnoringCase(left.span, Array("\(right)".utf8).span),
    ]
    return answers[0] == answers[1] ? answers[0] : nil
  }

  @Test(
    "decimal numbers",
    arguments: [
      ("0", 0), ("007", 7), ("9223372036854775807", Int.max), ("9223372036854775808", nil), ("", nil), ("-1", nil),
      ("+1", nil), (" 1", nil), ("1a", nil), ("99999999999999999999", nil), ("\u{661}", nil),
    ] as [(String, Int?)])
  func decimal(_ text: String, _ value: Int?) {
    #expect(ASCII.decimal(Array(text.utf8).span) == value)
  }
}
