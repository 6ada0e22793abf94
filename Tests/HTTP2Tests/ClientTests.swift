import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// A client's session before an upstream that is wrong.
struct ClientTests {
  private func client() throws -> Peer {
    let client = try #require(Peer(.client))
    var line = HTTP2RequestLine(method: .get, isSecure: false)
    line.target.append("/")
    line.authority.append("a")
    _ = client.session.request(line, fields: FieldBlock(), contentLength: nil, hasBody: false, owner: client)
    _ = client.output()
    client.receive(Frames.settings())
    _ = client.output()
    return client
  }

  @Test(arguments: [
    [(":status", "99")], [(":status", "000")], [(":status", "2000")], [(":status", "abc")], [(":status", "101")],
    [("x", "1")], [(":status", "200"), (":status", "200")], [(":status", "200"), ("connection", "close")],
    [(":status", "200"), ("x", "1\r\ny: 2")], [(":status", "200"), ("X", "1")], [(":status", "200"), (":path", "/")],
    [(":status", "200"), ("content-length", "1"), ("content-length", "2")],
    [(":status", "200"), ("content-length", "010")], [(":status", "200"), ("transfer-encoding", "chunked")],
  ])
  func refusedHead(_ fields: [(String, String)]) throws {
    let client = try client()
    client.receive(Frames.headers(1, fields, end: false))
    #expect(SentFrame.parse(client.output()).resets.map(\.code) == [1])
    #expect(client.events == ["1 closed PROTOCOL_ERROR"])
    #expect(client.faults.count == 1)
  }

  @Test func headLargerThanTheLimit() throws {
    let client = try client()
    client.receive(Frames.headers(1, [(":status", "200")] + (0..<130).map { ("x\($0)", "1") }))
    #expect(client.events == ["1 closed NO_ERROR"])
    #expect(client.closes.keys.contains(1))
    _ = client.output()
    #expect(client.faults == [.tooManyFields])
  }

  @Test(arguments: [Frames.data(1, "12", end: true), Frames.data(1, "1234", end: true)])
  func lengthOtherThanAnnounced(_ body: [UInt8]) throws {
    let client = try client()
    client.receive(Frames.headers(1, [(":status", "200"), ("content-length", "3")], end: false) + body)
    _ = client.output()
    #expect(client.closes == [1: .protocolError])
    #expect(client.events.contains { $0.contains(" end ") } == false)
  }

  @Test func pushIsRefused() throws {
    let client = try client()
    client.receive(Frames.settingsAcknowledgement + Frames.frame(5, 4, 1, Frames.word(2) + Frames.section(Message.get)))
    #expect(SentFrame.parse(client.output()).goAways.map(\.code) == [1])
  }

  @Test func resetBeforeAndInsideTheAnswer() throws {
    let before = try client()
    before.receive(Frames.reset(1, 7))
    #expect(before.events == ["1 closed REFUSED_STREAM"])
    let inside = try client()
    inside.receive(Frames.headers(1, [(":status", "200")], end: false) + Frames.data(1, "x") + Frames.reset(1, 2))
    #expect(inside.events == ["1 200 ", "1 closed INTERNAL_ERROR"])
  }

  @Test func answersInSeveralHeads() throws {
    let client = try client()
    client.receive(
      Frames.headers(1, [(":status", "100")], end: false)
        + Frames.headers(1, [(":status", "103"), ("a", "1")], end: false)
        + Frames.headers(1, [(":status", "200"), ("b", "2")], end: false) + Frames.headers(1, [("c", "3")]))
    #expect(client.events == ["1 100 ", "1 103 a=1", "1 200 b=2", "1 end '' c=3", "1 closed NO_ERROR"])
  }
}
