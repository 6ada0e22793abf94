import Bytes
import HTTPModel
import Testing

@Suite("Field syntax, methods, versions")
struct SyntaxTests {
  static func isToken(_ text: String) -> Bool { FieldSyntax.isToken(Array(text.utf8).span) }
  static func isValue(_ text: String) -> Bool { FieldSyntax.isValue(Array(text.utf8).span) }

  @Test("token bytes are those of RFC 9110 section 5.6.2")
  func tokens() {
    let tokens = Set(
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for byte in UInt8.min ... .max {
      #expect(FieldSyntax.isTokenByte(byte) == tokens.contains(byte), "\(byte)")
    }
    #expect(Self.isToken("x-1"))
    #expect(!Self.isToken("x 1"))
    #expect(!Self.isToken(""))
  }

  @Test("value bytes are visible ones, blanks, tabs and those above ASCII")
  func values() {
    for byte in UInt8.min ... .max {
      let expected = byte == 9 || (byte >= 32 && byte != 127)
      #expect(FieldSyntax.isValueByte(byte) == expected, "\(byte)")
    }
    #expect(Self.isValue(""))
    #expect(Self.isValue("a\tb \u{E4}"))
    #expect(!Self.isValue("a\r\nb"))
  }

  @Test(
    "methods are read and written",
    arguments: [
      ("GET", HTTPMethod.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("PATCH", .patch), ("DELETE", .delete),
      ("OPTIONS", .options), ("TRACE", .trace), ("CONNECT", .connect), ("get", .other("get")),
      ("PURGE", .other("PURGE")),
    ])
  func methods(_ name: String, _ method: HTTPMethod) {
    #expect(HTTPMethod(name) == method)
    #expect(method.name == name)
  }

  @Test("safe and idempotent methods")
  func properties() {
    let all: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect, .other("X")]
    #expect(all.filter(\.isSafe) == [.get, .head, .options, .trace])
    #expect(all.filter(\.isIdempotent) == [.get, .head, .put, .delete, .options, .trace])
  }

  @Test("versions as logs spell them")
  func versions() {
    #expect([HTTPVersion.http10, .http11, .http2].map(\.name) == ["HTTP/1.0", "HTTP/1.1", "HTTP/2"])
  }
}
