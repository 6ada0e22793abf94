import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// A stream is used again for another exchange when nobody holds it any more: nothing of the one before is left in it.
struct ReuseTests {
  /// An exchange of some shape; what both sides saw of it, without the stream's number.
  private enum Shape: CaseIterable {
    case plain, lengths, bodies, trailers, interim, cookies, clientReset, serverReset, refused, unread
  }

  private static func run(_ shape: Shape, on pair: Pair) -> [String] {
    pair.server.onOpen = nil
    pair.server.onEnd = { server, stream in
      switch shape {
      case .trailers:
        server.respond(stream, 200, [("x-a", "1")])
        server.session.end(stream, trailers: block([("x-t", "2")]))
      case .interim:
        server.session.respond(stream, interim: 103, fields: block([("link", "l")]))
        server.respond(stream, 204, hasBody: false)
      case .lengths:
        server.session.respond(stream, status: 200, fields: FieldBlock(), contentLength: 3, hasBody: true)
        server.send("abc", on: stream)
        server.session.end(stream, trailers: nil)
      case .serverReset: server.session.reset(stream, .internalError)
      case .clientReset: break
      default:
        server.respond(stream, 200, [("Content-Type", "text/plain")])
        server.send("answer", on: stream)
        server.session.end(stream, trailers: nil)
      }
    }
    switch shape {
    case .bodies, .unread, .lengths:
      pair.server.reads = shape != .unread
      let length = shape == .lengths ? 4 : nil
      if let stream = pair.request(.post, "/b", contentLength: length, hasBody: true) {
        pair.client.send("body", on: stream)
        pair.client.session.end(stream, trailers: nil)
      }
    case .cookies: _ = pair.request(.get, "/c", fields: [("cookie", "a=1"), ("cookie", "b=2"), ("te", "trailers")])
    case .refused: _ = pair.request(.get, "/" + String(repeating: "x", count: 10_000))
    case .clientReset:
      if let stream = pair.request(.get, "/r") {
        pair.exchange()
        pair.client.session.reset(stream, .cancel)
      }
    default: _ = pair.request(.get, "/p?q", fields: [("x-p", "p")])
    }
    pair.exchange()
    pair.server.reads = true
    let events = (pair.client.events + ["--"] + pair.server.events).map { event in
      event.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init) ?? event
    }
    pair.client.forget()
    pair.server.forget()
    return events
  }

  @Test func nothingIsLeft() throws {
    for before in Shape.allCases {
      for after in Shape.allCases {
        let used = try #require(Pair())
        _ = Self.run(before, on: used)
        let fresh = try #require(Pair())
        #expect(Self.run(after, on: used) == Self.run(after, on: fresh), "\(after) after \(before)")
      }
    }
  }

  @Test func theSameStreamComesAgain() throws {
    let pair = try #require(Pair())
    var seen: [ObjectIdentifier] = []
    for _ in 0..<3 {
      pair.server.onOpen = { server, stream in
        seen.append(ObjectIdentifier(stream))
        server.respond(stream, 200, hasBody: false)
      }
      _ = pair.request()
      pair.exchange()
      pair.client.forget()
      pair.server.forget()
    }
    #expect(Set(seen).count == 1)
  }

  @Test func aStreamThatIsHeldStaysAsItWas() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in server.respond(stream, 200, hasBody: false) }
    _ = pair.request(.get, "/first")
    pair.exchange()
    let held = try #require(pair.server.streams.first)
    let head = held.request
    pair.server.forget()
    for _ in 0..<3 {
      _ = pair.request(.get, "/other")
      pair.exchange()
    }
    #expect(held.request === head && head.targetText == "/first" && held.isClosed && held.id == 1)
  }
}
