import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// Requests that must not go on: each shape is refused for its own reason, ends its stream and nothing else.
struct RefusalTests {
  struct Shape: Sendable, CustomTestStringConvertible {
    var name: String
    var fields: [(String, String)]
    var kind: HTTP2Fault.Kind
    var testDescription: String { name }

    init(_ name: String, _ fields: [(String, String)], _ kind: HTTP2Fault.Kind) {
      self.name = name
      self.fields = fields
      self.kind = kind
    }
  }

  static let heads: [Shape] = [
    Shape("method with a blank", Message.get([":method": "G T"]), .malformedMessage),
    Shape("empty method", Message.get([":method": ""]), .malformedMessage),
    Shape("long method", Message.get([":method": String(repeating: "M", count: 33)]), .invalidMethod),
    Shape("no method", Message.get(without: ":method"), .malformedMessage),
    Shape("two methods", [(":method", "GET")] + Message.get, .malformedMessage),
    Shape("scheme", Message.get([":scheme": "ftp"]), .invalidScheme),
    Shape("no scheme", Message.get(without: ":scheme"), .malformedMessage),
    Shape("no path", Message.get(without: ":path"), .malformedMessage),
    Shape("empty path", Message.get([":path": ""]), .malformedMessage),
    Shape("path without slash", Message.get([":path": "x"]), .targetWithoutSlash),
    Shape("absolute path", Message.get([":path": "http://a.example/"]), .targetWithoutSlash),
    Shape("asterisk", Message.get([":path": "*"]), .malformedMessage),
    Shape("path with a blank", Message.get([":path": "/a b"]), .malformedMessage),
    Shape("path with LF", Message.get([":path": "/a\nb"]), .malformedMessage),
    Shape("path with CR", Message.get([":path": "/a\rb"]), .malformedMessage),
    Shape("path with NUL", Message.get([":path": "/a\0b"]), .malformedMessage),
    Shape("path with DEL", Message.get([":path": "/a\u{7f}b"]), .malformedMessage),
    Shape("path with a fragment", Message.get([":path": "/a#b"]), .fragmentInTarget),
    Shape("path that is not ASCII", Message.get([":path": "/\u{e9}"]), .invalidTarget),
    Shape("no authority", Message.get(without: ":authority"), .malformedMessage),
    Shape("empty authority", Message.get([":authority": ""]), .malformedMessage),
    Shape("authority with user", Message.get([":authority": "u@a.example"]), .invalidAuthority),
    Shape("authority with a slash", Message.get([":authority": "a.example/"]), .malformedMessage),
    Shape("authority with a blank", Message.get([":authority": "a example"]), .malformedMessage),
    Shape("authority with a port too large", Message.get([":authority": "a.example:99999"]), .invalidAuthority),
    Shape("two authorities", [(":authority", "b.example")] + Message.get, .malformedMessage),
    Shape("other host", Message.get([:], [("host", "b.example")]), .hostMismatch),
    Shape("host with another port", Message.get([:], [("host", "a.example:8080")]), .hostMismatch),
    Shape("two hosts", Message.get([:], [("host", "a.example"), ("host", "a.example")]), .malformedMessage),
    Shape("bad host", Message.get(without: ":authority") + [("host", "a;b")], .invalidAuthority),
    Shape("connection", Message.get([:], [("connection", "close")]), .malformedMessage),
    Shape("keep-alive", Message.get([:], [("keep-alive", "5")]), .malformedMessage),
    Shape("proxy-connection", Message.get([:], [("proxy-connection", "close")]), .malformedMessage),
    Shape("transfer-encoding", Message.get([:], [("transfer-encoding", "chunked")]), .malformedMessage),
    Shape("upgrade", Message.get([:], [("upgrade", "websocket")]), .malformedMessage),
    Shape("http2-settings", Message.get([:], [("http2-settings", "AAMAAABk")]), .connectionField),
    Shape("te", Message.get([:], [("te", "gzip")]), .malformedMessage),
    Shape("te with more", Message.get([:], [("te", "trailers, deflate")]), .malformedMessage),
    Shape("upper-case name", Message.get([:], [("X-Upper", "1")]), .malformedMessage),
    Shape("empty name", Message.get([:], [("", "1")]), .invalidFieldName),
    Shape("name with a blank", Message.get([:], [("x y", "1")]), .invalidFieldName),
    Shape("name with a colon", Message.get([:], [("x:y", "1")]), .invalidFieldName),
    Shape("name with LF", Message.get([:], [("x\ny", "1")]), .invalidFieldName),
    Shape("value with LF", Message.get([:], [("x", "1\n2")]), .invalidFieldValue),
    Shape("value with CR", Message.get([:], [("x", "1\r2")]), .invalidFieldValue),
    Shape("value with CRLF", Message.get([:], [("x", "1\r\ny: 2")]), .invalidFieldValue),
    Shape("value with NUL", Message.get([:], [("x", "1\02")]), .invalidFieldValue),
    Shape("value with DEL", Message.get([:], [("x", "1\u{7f}2")]), .invalidFieldValue),
    Shape("value with a blank before", Message.get([:], [("x", " 1")]), .invalidFieldValue),
    Shape("value with a tab after", Message.get([:], [("x", "1\t")]), .invalidFieldValue),
    Shape("content-length with zeros", Message.get([:], [("content-length", "00")]), .invalidContentLength),
    Shape("content-length with a sign", Message.get([:], [("content-length", "+0")]), .malformedMessage),
    Shape("content-length of words", Message.get([:], [("content-length", "no")]), .malformedMessage),
    Shape(
      "two content-lengths", Message.get([:], [("content-length", "0"), ("content-length", "0")]), .malformedMessage),
    Shape("content-length without body", Message.get([:], [("content-length", "3")]), .malformedMessage),
    Shape("pseudo field after others", [("x", "1")] + Message.get, .malformedMessage),
    Shape("unknown pseudo field", [(":other", "1")] + Message.get, .malformedMessage),
    Shape("status in a request", [(":status", "200")] + Message.get, .malformedMessage),
    Shape("extended CONNECT", [(":protocol", "websocket")] + Message.get([":method": "CONNECT"]), .malformedMessage),
  ]

  @Test(arguments: heads)
  func head(_ shape: Shape) throws {
    let server = try #require(Peer(.server))
    server.receive(Frames.start + Frames.headers(1, shape.fields))
    let frames = SentFrame.parse(server.output())
    #expect(server.events.isEmpty)
    #expect(server.faults == [shape.kind])
    #expect(frames.resets.map(\.code) == [1])
    #expect(frames.resets.map(\.stream) == [1])
    #expect(frames.goAways.isEmpty)
    // The connection goes on.
    server.receive(Frames.headers(3, Message.get))
    #expect(server.events.first?.hasPrefix("3 GET") == true)
  }

  @Test(arguments: [
    (Message.get([":path": "/" + String(repeating: "x", count: 8192)]), 414, HTTP2Fault.Kind.targetTooLong),
    (Message.get([:], [("x", String(repeating: "x", count: 33_000))]), 431, .headTooLarge),
    (Message.get([:], (0..<130).map { ("x\($0)", "") }), 431, .tooManyFields),
    ([(":method", "CONNECT"), (":authority", "a.example:443")], 501, .connectMethod),
  ])
  func answered(_ fields: [(String, String)], _ status: Int, _ kind: HTTP2Fault.Kind) throws {
    let server = try #require(Peer(.server))
    let section = Frames.section(fields)
    var bytes = Frames.start
    if section.count > 16_384 {
      bytes += Frames.headers(1, fragment: Array(section.prefix(16_384)), end: false, whole: false)
      bytes += Frames.continuation(1, Array(section.dropFirst(16_384).prefix(16_384)), whole: false)
      bytes += Frames.continuation(1, Array(section.dropFirst(32_768)), whole: true)
    } else {
      bytes += Frames.headers(1, fields, end: false)
    }
    server.receive(bytes)
    #expect(server.events == ["1 refused \(status)"])
    #expect(server.faults == [kind])
    let frames = SentFrame.parse(server.output())
    #expect(frames.contains { $0.type == 1 && $0.stream == 1 && $0.flags & 1 == 1 })
    #expect(frames.resets.map(\.code) == [0])
    #expect(server.session.openStreams == 0)
  }

  @Test(arguments: [
    (Frames.data(1, "1234", end: true), 5), (Frames.data(1, "123456"), 5), (Frames.data(1, "", end: true), 5),
    (Frames.data(1, "1", end: true), 0), (Frames.headers(1, [("x", "1")]), 5),
  ])
  func lengthOtherThanAnnounced(_ body: [UInt8], _ length: Int) throws {
    let server = try #require(Peer(.server))
    server.receive(
      Frames.start + Frames.headers(1, Message.post + [("content-length", "\(length)")], end: false) + body)
    let frames = SentFrame.parse(server.output())
    #expect(frames.resets.map(\.code) == [1])
    #expect(server.events.contains { $0.contains(" end ") } == false)
    #expect(server.closes == [1: .protocolError])
    #expect(server.faults == [.malformedMessage] || server.faults == [.lengthMismatch])
  }

  @Test(arguments: [
    [("X-Upper", "1")], [("x", "1\r\n")], [(":path", "/")], [("connection", "close")],
    (0..<129).map { ("x\($0)", "1") }, [("x", String(repeating: "x", count: 15_000)), ("y", "1\0")],
  ])
  func trailers(_ fields: [(String, String)]) throws {
    let server = try #require(Peer(.server))
    server.receive(
      Frames.start + Frames.headers(1, Message.post, end: false) + Frames.data(1, "x") + Frames.headers(1, fields))
    #expect(SentFrame.parse(server.output()).resets.count == 1)
    #expect(server.events.contains { $0.contains(" end ") } == false)
    #expect(server.closes.count == 1)
    #expect(server.faults.count == 1)
  }

  @Test func trailersMustEndTheStream() throws {
    let server = try #require(Peer(.server))
    server.receive(
      Frames.start + Frames.headers(1, Message.post, end: false) + Frames.headers(1, [("x", "1")], end: false))
    let frames = SentFrame.parse(server.output())
    #expect(frames.resets.map(\.code) == [1] || frames.goAways.map(\.code) == [1])
    #expect(server.events.contains { $0.contains(" end ") } == false)
  }

  @Test(arguments: [
    ("no preface", Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), UInt32(1)),
    ("DATA on stream 0", Frames.start + Frames.data(0, "x"), 1),
    ("HEADERS on stream 0", Frames.start + Frames.headers(0, Message.get), 1),
    ("HEADERS on an even stream", Frames.start + Frames.headers(2, Message.get), 1),
    ("DATA on an idle stream", Frames.start + Frames.data(5, "x"), 1),
    ("a frame too large", Frames.start + Frames.frame(0, 0, 1, [UInt8](repeating: 0, count: 16_385)), 6),
    ("PING of 7 bytes", Frames.start + Frames.frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0]), 6),
    ("SETTINGS of 5 bytes", Frames.start + Frames.frame(4, 0, 0, [0, 0, 0, 0, 0]), 6),
    ("WINDOW_UPDATE of 0", Frames.start + Frames.windowUpdate(0, 0), 1),
    ("a window too large", Frames.start + Frames.windowUpdate(0, 0x7FFF_FFFF), 3),
    ("a bad table index", Frames.start + Frames.headers(1, fragment: [0xFF, 0xFF, 0xFF, 0x07], whole: true), 9),
    ("CONTINUATION alone", Frames.start + Frames.continuation(1, [], whole: true), 1),
    ("a frame inside a section", Frames.start + Frames.headers(1, fragment: [], whole: false) + Frames.ping, 1),
    ("PUSH_PROMISE of a client", Frames.start + Frames.frame(5, 4, 1, Frames.word(2)), 1),
  ])
  func connectionFault(_ name: String, _ bytes: [UInt8], _ code: UInt32) throws {
    let server = try #require(Peer(.server))
    server.receive(bytes)
    let frames = SentFrame.parse(server.output())
    #expect(frames.goAways.map(\.code) == [code])
    #expect(server.faults.count == 1)
    #expect(server.faults.allSatisfy { HTTP2Fault($0).scope == .connection && HTTP2Fault($0).code.rawValue == code })
    #expect(server.session.isFinished)
    // Nothing is handled any more.
    server.receive(Frames.headers(7, Message.get))
    #expect(server.events.contains { $0.hasPrefix("7") } == false)
  }
}
