import Bytes
import Testing

@Suite("Percent coding")
struct PercentCodingTests {
  static func decoded(_ text: String, _ decoding: PercentCoding.Decoding) -> String? {
    var output = ByteBuffer()
    guard PercentCoding.decode(Array(text.utf8).span, as: decoding, into: &output) == nil else { return nil }
    return String(repairing: output.span)
  }

  static func encoded(_ text: String, keepingSlashes: Bool = false) -> String {
    var output = ByteBuffer()
    PercentCoding.encode(Array(text.utf8).span, into: &output, keepingSlashes: keepingSlashes)
    return String(repairing: output.span)
  }

  @Test("escapes by place: a segment, several segments, a query")
  func places() {
    let text = "a%20b+c%2Fd%2fe%25%C3%a4"
    #expect(Self.decoded(text, .segment) == "a b+c/d/e%\u{E4}")
    #expect(Self.decoded(text, .segments) == "a b+c%2Fd%2fe%\u{E4}")
    #expect(Self.decoded(text, .query) == "a b c/d/e%\u{E4}")
    #expect(Self.decoded("", .query) == "")
  }

  @Test("a malformed escape is found where it is", arguments: [("%", 0), ("a%2", 1), ("ab%zz", 2), ("%20%2g", 3)])
  func malformed(_ text: String, _ offset: Int) {
    var output = ByteBuffer()
    #expect(PercentCoding.decode(Array(text.utf8).span, as: .segment, into: &output) == offset)
  }

  @Test("all but the unreserved bytes are escaped")
  func encoding() {
    #expect(Self.encoded("AZaz09-._~") == "AZaz09-._~")
    #expect(Self.encoded("a b+c/d?#%\u{E4}") == "a%20b%2Bc%2Fd%3F%23%25%C3%A4")
    #expect(Self.encoded("a/b%2fc%2Fd%20%2", keepingSlashes: true) == "a/b%2fc%2Fd%2520%252")
  }

  @Test("every byte comes back", arguments: [PercentCoding.Decoding.segment, .query])
  func roundTrip(_ decoding: PercentCoding.Decoding) {
    let bytes = [UInt8](UInt8.min ... .max)
    var code = ByteBuffer()
    PercentCoding.encode(bytes.span, into: &code)
    var output = ByteBuffer()
    #expect(PercentCoding.decode(code.span, as: decoding, into: &output) == nil)
    #expect(output.bytes == bytes)
  }

  @Test("several segments come back with their slashes, plain and escaped")
  func slashes() throws {
    let text = "a/b%2Fc d"
    let code = Self.encoded(text, keepingSlashes: true)
    #expect(code == "a/b%2Fc%20d")
    #expect(Self.decoded(code, .segments) == text)
  }
}
