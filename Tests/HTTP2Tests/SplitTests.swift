import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// However the bytes are cut, the same happens.
struct SplitTests {
  private static func transcript() -> [UInt8] {
    var bytes = Frames.start + Frames.settingsAcknowledgement
    let section = Frames.section(Message.get([:], [("cookie", "a=1"), ("x-y", "z"), ("cookie", "b=2")]))
    bytes += Frames.headers(1, fragment: Array(section.prefix(20)), end: true, whole: false)
    bytes += Frames.continuation(1, Array(section.dropFirst(20)), whole: true)
    bytes += Frames.headers(3, Message.post + [("content-length", "6")], end: false)
    bytes += Frames.data(3, "abc") + Frames.ping + Frames.windowUpdate(0, 10) + Frames.data(3, "def")
    bytes += Frames.headers(3, [("x-sum", "6")])
    bytes += Frames.headers(5, Message.get([":path": "bad"]))
    bytes += Frames.headers(7, Message.post, end: false) + Frames.data(7, "x") + Frames.reset(7)
    return bytes + Frames.headers(9, Message.get([":path": "/last"]))
  }

  private func run(_ pieces: [ArraySlice<UInt8>]) throws -> ([String], [HTTP2Fault.Kind], [SentFrame]) {
    let server = try #require(Peer(.server))
    var sent: [UInt8] = []
    for piece in pieces { server.receive(Array(piece)) }
    sent += server.output()
    return (server.events, server.faults, SentFrame.parse(sent))
  }

  @Test func everySplit() throws {
    let bytes = Self.transcript()
    let whole = try run([bytes[...]])
    #expect(whole.0.count == 8 && whole.1 == [.targetWithoutSlash])
    for cut in 1..<bytes.count {
      let split = try run([bytes[..<cut], bytes[cut...]])
      #expect(split.0 == whole.0 && split.1 == whole.1 && split.2 == whole.2, "cut at \(cut)")
    }
  }

  @Test func byteByByte() throws {
    let bytes = Self.transcript()
    let whole = try run([bytes[...]])
    let single = try run(bytes.indices.map { bytes[$0...$0] })
    #expect(single.0 == whole.0 && single.1 == whole.1 && single.2 == whole.2)
  }

  /// Whatever comes, the session stays whole: it ends with GOAWAY, or goes on.
  @Test func mutations() throws {
    let bytes = Self.transcript()
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var mutated = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: Frames.preface.count..<bytes.count, using: &random)
        mutated[place] = UInt8.random(in: 0...255, using: &random)
      }
      let server = try #require(Peer(.server))
      server.onEnd = { server, stream in server.respond(stream, 200, hasBody: false) }
      server.receive(mutated)
      let frames = SentFrame.parse(server.output())
      #expect(frames.goAways.count <= 1)
      #expect(frames.goAways.isEmpty || server.session.isFinished || server.session.openStreams > 0)
      for stream in server.streams {
        let target = stream.request.targetText
        #expect(target.hasPrefix("/") && !target.contains("#") && !target.contains(" "))
      }
    }
  }

  @Test func preface() {
    let bytes = Frames.preface
    #expect(Preface.match(bytes.span) == .http2)
    #expect(Preface.match((bytes + [0]).span) == .http2)
    for count in 0..<bytes.count {
      #expect(Preface.match(Array(bytes.prefix(count)).span) == .undecided)
      var other = bytes
      other[count] ^= 1
      #expect(Preface.match(other.span) == .other)
    }
    #expect(Preface.match(Array("GET / HTTP/1.1\r\n".utf8).span) == .other)
  }
}
