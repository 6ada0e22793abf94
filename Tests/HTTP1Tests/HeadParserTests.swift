import Bytes
import HTTP1
import HTTPModel
import Testing

@Suite("Head parsers")
struct HeadParserTests {
  @Test("the input is untouched until the head is complete, and then consumed up to the body")
  func consumes() throws {
    var parser = RequestHeadParser(limits: HeadLimits())
    var input = ByteBuffer(Array("POST / HTTP/1.1\r\nHost: a\r\n\r".utf8))
    let head = RequestHead()
    let early = try parser.parse(&input, into: head)
    #expect(!early)
    #expect(input.count == 27)
    #expect(parser.hasBegun)
    input.append("\nbody")
    let late = try parser.parse(&input, into: head)
    #expect(late)
    #expect(input.bytes == Array("body".utf8))
    #expect(!parser.hasBegun)
  }

  @Test("what was looked at is not looked at again")
  func scansOnce() throws {
    var parser = RequestHeadParser(limits: HeadLimits())
    let text = "GET /path?q HTTP/1.1\r\nHost: a\r\nX-Long: some value"
    var input = ByteBuffer(Array(text.utf8))
    let head = RequestHead()
    let early = try parser.parse(&input, into: head)
    #expect(!early)
    // All but the start of the open line may be spoilt, for nothing reads it again.
    for index in 0..<22 + 9 { input[index] = 0 }
    input.append("\r\n\r\n")
    let late = try parser.parse(&input, into: head)
    #expect(late)
    #expect(head.method == .get)
    #expect(head.targetText == "/path?q")
    #expect(head.fields.text(of: .host) == "a")
    #expect(head.fields.text(of: "x-long") == "some value")
  }

  @Test("even of an open value only the new bytes are scanned")
  func scansOnceInsideAValue() throws {
    var parser = ResponseHeadParser(limits: HeadLimits())
    var input = ByteBuffer(Array("HTTP/1.1 200 OK\r\nX: abc".utf8))
    let head = ResponseHead()
    let early = try parser.parse(&input, into: head)
    #expect(!early)
    #expect(parser.hasBegun)
    input[21] = UInt8(ascii: "\n")
    input.append("d\r\n\r\n")
    let late = try parser.parse(&input, into: head)
    #expect(late)
    #expect(head.fields.text(of: "X") == "a\ncd")
  }

  @Test("blank lines before a request do not begin a head and are taken off")
  func blankLines() throws {
    var parser = RequestHeadParser(limits: HeadLimits())
    var input = ByteBuffer(Array("\r\n\r".utf8))
    let head = RequestHead()
    let complete = try parser.parse(&input, into: head)
    #expect(!complete)
    #expect(!parser.hasBegun)
    #expect(input.count == 1)
    input.append("\nGET ")
    _ = try parser.parse(&input, into: head)
    #expect(parser.hasBegun)
    #expect(input.bytes == Array("GET ".utf8))
  }

  @Test("a parser that failed fails again")
  func failsAgain() {
    var parser = RequestHeadParser(limits: HeadLimits())
    var input = ByteBuffer(Array("GET / HTTP/1.1\n".utf8))
    let head = RequestHead()
    for _ in 0..<2 {
      #expect(throws: HTTP1Error(.bareLineFeed)) { _ = try parser.parse(&input, into: head) }
      input.append("Host: a\r\n\r\n")
    }
  }

  @Test("a head is cleared before the next one is read into it")
  func reuse() throws {
    var parser = RequestHeadParser(limits: HeadLimits())
    var input = ByteBuffer(
      Array("PUT http://a/long?query HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\nGET /s HTTP/1.0\r\n\r\n".utf8))
    let head = RequestHead()
    let first = try parser.parse(&input, into: head)
    #expect(first)
    #expect(head.fields.count == 2)
    let second = try parser.parse(&input, into: head)
    #expect(second)
    #expect(head.fields.isEmpty)
    #expect(head.authority.count == 0)
    #expect(head.targetText == "/s")
    #expect(head.pathEnd == 2)
    #expect(head.version == .http10)
    #expect(input.count == 0)
  }

  @Test("exactly the limits are allowed")
  func exactLimits() throws {
    let text = "GET /12345 HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n"
    let limits = HeadLimits(maximumBytes: text.utf8.count, maximumFields: 2, maximumTarget: 6)
    var parser = RequestHeadParser(limits: limits)
    var input = ByteBuffer(Array(text.utf8))
    let complete = try parser.parse(&input, into: RequestHead())
    #expect(complete)
    for (narrow, kind) in [
      (HeadLimits(maximumBytes: text.utf8.count - 1), HTTP1Error.Kind.headTooLarge),
      (HeadLimits(maximumFields: 1), .tooManyFields), (HeadLimits(maximumTarget: 5), .targetTooLong),
    ] {
      var parser = RequestHeadParser(limits: narrow)
      var input = ByteBuffer(Array(text.utf8))
      #expect(throws: HTTP1Error(kind)) { _ = try parser.parse(&input, into: RequestHead()) }
    }
  }

  @Test("the longest method and field name are allowed")
  func longestTokens() throws {
    let method = String(repeating: "M", count: 64)
    let name = String(repeating: "n", count: 1_024)
    var parser = RequestHeadParser(limits: HeadLimits())
    var input = ByteBuffer(Array("\(method) / HTTP/1.1\r\nHost: a\r\n\(name): v\r\n\r\n".utf8))
    let head = RequestHead()
    let complete = try parser.parse(&input, into: head)
    #expect(complete)
    #expect(head.method == .other(method))
    #expect(head.fields.text(of: name) == "v")
  }

  @Test("an error names its kind, and has the status that belongs to it")
  func errors() {
    let statuses: [HTTP1Error.Kind: Int] = [
      .targetTooLong: 414, .headTooLarge: 431, .tooManyFields: 431, .fieldNameTooLong: 431, .methodTooLong: 501,
      .connectMethod: 501, .unsupportedTransferCoding: 501, .unsupportedVersion: 505, .http2Preface: 505,
    ]
    for kind in HTTP1Error.Kind.allCases {
      #expect(HTTP1Error(kind).status == statuses[kind] ?? 400, "\(kind)")
      #expect("\(kind.name)" == "\(kind)")
      #expect(!HTTP1Error(kind).reason.isEmpty)
    }
    #expect(Set(HTTP1Error.Kind.allCases.map { HTTP1Error($0).reason }).count == HTTP1Error.Kind.allCases.count)
    #expect("\(HTTP1Error(.missingHost))" == "missingHost: an HTTP/1.1 request needs a Host field")
  }
}
