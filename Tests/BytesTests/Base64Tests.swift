import Bytes
import Testing

@Suite("Base64")
struct Base64Tests {
  static func encoded(_ bytes: [UInt8], _ alphabet: Base64.Alphabet = .standard, padded: Bool = true) -> String {
    var output = ByteBuffer()
    Base64.encode(bytes.span, into: &output, alphabet: alphabet, padded: padded)
    return String(repairing: output.span)
  }

  static func decoded(_ text: String) -> [UInt8]? {
    var output = ByteBuffer()
    return Base64.decode(Array(text.utf8).span, into: &output) ? output.bytes : nil
  }

  @Test(
    "the examples of RFC 4648 section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func examples(_ text: String, _ code: String) {
    #expect(Self.encoded(Array(text.utf8)) == code)
    #expect(Self.encoded(Array(text.utf8), padded: false) == code.filter { $0 != "=" })
    #expect(Self.decoded(code) == Array(text.utf8))
    #expect(Self.decoded(code.filter { $0 != "=" }) == Array(text.utf8))
  }

  @Test("both alphabets are read, mixed too")
  func alphabets() {
    let bytes: [UInt8] = [0xFB, 0xEF, 0xFF, 0xFB, 0xEF, 0xFF]
    #expect(Self.encoded(bytes) == "++//++//")
    #expect(Self.encoded(bytes, .urlSafe) == "--__--__")
    #expect(Self.decoded("++__--//") == bytes)
  }

  @Test("all lengths and byte values survive", arguments: 0..<70)
  func roundTrip(_ length: Int) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length &* 11) }
    for alphabet in [Base64.Alphabet.standard, .urlSafe] {
      for padded in [true, false] {
        #expect(Self.decoded(Self.encoded(bytes, alphabet, padded: padded)) == bytes)
      }
    }
  }

  @Test(
    "what no encoder writes is refused",
    arguments: [
      "A", "AAAAA", "=", "==", "====", "A===", "AA=", "AAA==", "AA=A", "=AAA", "AA==AAAA", "AAAA=", "AA A", "AA\nA",
      "A.AA",
      "AAA\u{E4}", "AA\0A",
    ])
  func refused(_ text: String) {
    #expect(Self.decoded(text) == nil)
  }
}
