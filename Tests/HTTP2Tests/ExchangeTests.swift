import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// Whole exchanges between our own client and our own server.
struct ExchangeTests {
  @Test func requestWithoutBody() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.respond(stream, 200, [("Content-Type", "text/plain")])
      server.send("hello", on: stream)
      server.session.end(stream, trailers: nil)
    }
    _ = try #require(pair.request(.get, "/a?b=c", fields: [("X-One", "1"), ("Accept", "*/*")]))
    pair.exchange()
    #expect(pair.server.events.first == "1 GET example.com /a?b=c x-one=1 accept=*/*")
    #expect(
      pair.client.events == ["1 200 content-type=text/plain", "1 end 'hello' ", "1 closed NO_ERROR"])
    #expect(pair.server.events.last == "1 closed NO_ERROR")
    #expect(pair.client.session.openStreams == 0 && pair.server.session.openStreams == 0)
  }

  @Test func bodiesAndTrailersBothWays() throws {
    let pair = try #require(Pair())
    pair.server.onEnd = { server, stream in
      server.session.respond(stream, interim: 103, fields: block([("link", "</s.css>")]))
      server.respond(stream, 201, [("x-answer", "yes")])
      server.send("an", on: stream)
      server.send("swer", on: stream)
      server.session.end(stream, trailers: block([("Grpc-Status", "0"), ("x-more", "m")]))
    }
    let stream = try #require(pair.request(.post, "/", contentLength: 5, hasBody: true))
    pair.client.send("12345", on: stream)
    pair.client.session.end(stream, trailers: block([("x-sum", "15"), ("host", "evil"), ("cookie", "c")]))
    pair.exchange()
    #expect(stream.response.fields.text(of: "x-answer") == "yes")
    #expect(
      pair.client.events == [
        "1 103 link=</s.css>", "1 201 x-answer=yes", "1 end 'answer' grpc-status=0 x-more=m", "1 closed NO_ERROR",
      ])
    // What may not stand in trailers is not there for whoever reads them.
    #expect(pair.server.events[1] == "1 end '12345' x-sum=15")
    #expect(pair.server.streams.first?.contentLength == 5)
  }

  @Test func trailersWithoutData() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.respond(stream, 200)
      server.session.end(stream, trailers: block([("grpc-status", "5")]))
    }
    _ = pair.request(.post)
    pair.exchange()
    #expect(pair.client.events == ["1 200 ", "1 end '' grpc-status=5", "1 closed NO_ERROR"])
  }

  @Test func requestTrailersWithoutData() throws {
    let pair = try #require(Pair())
    let stream = try #require(pair.request(.post, hasBody: true))
    pair.client.session.end(stream, trailers: block([("x-t", "1")]))
    pair.exchange()
    #expect(pair.server.events == ["1 POST example.com / ", "1 end '' x-t=1"])
  }

  @Test(arguments: [HTTPMethod.head, .get])
  func answerWithoutBody(_ method: HTTPMethod) throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.session.respond(
        stream, status: method == .head ? 200 : 304, fields: FieldBlock(), contentLength: method == .head ? 10 : nil,
        hasBody: false)
    }
    let stream = try #require(pair.request(method))
    pair.exchange()
    #expect(stream.contentLength == (method == .head ? 10 : nil))
    #expect(pair.client.closes[1] == .noError)
    #expect(pair.client.faults.isEmpty)
  }

  @Test func connectionFieldsAreNotSent() throws {
    let pair = try #require(Pair())
    let names = [
      "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings",
      "content-length", "host",
    ]
    pair.server.onOpen = { server, stream in
      server.respond(stream, 200, names.map { ($0, "1") } + [("kept", "1")], hasBody: false)
    }
    _ = pair.request(fields: names.map { ($0, "1") } + [("te", "gzip"), ("kept", "1")])
    _ = pair.request(fields: [("TE", "Trailers")])
    pair.exchange()
    #expect(pair.server.events.first == "1 GET example.com / kept=1")
    #expect(pair.server.events.contains { $0.hasSuffix("te=Trailers") })
    #expect(pair.client.events.first == "1 200 kept=1")
  }

  @Test func cookieCrumbsAreJoined() throws {
    let server = try #require(Peer(.server))
    server.receive(
      Frames.start
        + Frames.headers(
          1,
          [
            (":method", "GET"), (":scheme", "http"), (":authority", "A.example:80"), (":path", "/"), ("cookie", "a=1"),
            ("x", "y"), ("cookie", "b=2"), ("cookie", "c=3"),
          ]))
    #expect(server.events == ["1 GET a.example:80 / x=y cookie=a=1; b=2; c=3", "1 end '' "])
  }

  @Test func hostStandsInForTheAuthority() throws {
    let server = try #require(Peer(.server))
    server.receive(
      Frames.start
        + Frames.headers(1, [(":method", "GET"), (":scheme", "https"), (":path", "/"), ("host", "B.example")])
        + Frames.headers(
          3,
          [
            (":method", "OPTIONS"), (":scheme", "http"), (":path", "*"), (":authority", "b.example"),
            ("host", "B.Example"),
          ]))
    #expect(server.events.count == 4)
    #expect(server.events.first == "1 GET b.example / host=B.example")
    #expect(server.events.dropFirst(2).first == "3 OPTIONS b.example * host=B.Example")
  }

  @Test func earlyAnswerStopsTheRequest() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.respond(stream, 413)
      server.send("too much", on: stream)
      server.session.end(stream, trailers: nil)
      server.session.stopPeerAtEnd(of: stream)
    }
    let stream = try #require(pair.request(.post, hasBody: true))
    pair.exchange()
    #expect(pair.client.events == ["1 413 ", "1 end 'too much' ", "1 closed NO_ERROR"])
    #expect(stream.isClosed)
    #expect(pair.server.session.openStreams == 0)
  }

  @Test func resetsReachTheOtherSide() throws {
    let pair = try #require(Pair())
    let one = try #require(pair.request(.post, hasBody: true))
    let two = try #require(pair.request(.post, hasBody: true))
    pair.exchange()
    pair.client.session.reset(one, .cancel)
    let theirs = try #require(pair.server.streams.last)
    pair.server.session.reset(theirs, .enhanceYourCalm)
    pair.exchange()
    #expect(pair.server.closes[1] == .cancel)
    #expect(pair.client.closes[two.id] == .enhanceYourCalm)
    // On a stream that is over nothing happens any more.
    pair.client.send("late", on: two)
    pair.client.session.end(two, trailers: nil)
    pair.client.session.credit(two, 10)
    #expect(pair.client.output().isEmpty)
  }

  @Test func goingAwayLetsRunningStreamsFinish() throws {
    let pair = try #require(Pair())
    _ = pair.request()
    pair.exchange()
    pair.server.session.goAway()
    pair.exchange()
    #expect(pair.client.events == ["goaway NO_ERROR"])
    #expect(pair.request() == nil)
    #expect(!pair.server.session.isFinished)
    let stream = try #require(pair.server.streams.first)
    pair.server.respond(stream, 200, hasBody: false)
    pair.exchange()
    #expect(pair.client.closes[1] == .noError)
    #expect(pair.server.session.isFinished && pair.client.session.isFinished)
  }

  @Test func streamsAboveTheLastOneAreRefused() throws {
    let client = try #require(Peer(.client))
    let pair = try #require(Pair())
    _ = client.output()
    var line = HTTP2RequestLine(method: .get, isSecure: false)
    line.target.append("/")
    line.authority.append("a")
    for _ in 0..<3 {
      _ = client.session.request(line, fields: FieldBlock(), contentLength: nil, hasBody: false, owner: client)
    }
    _ = client.output()
    client.receive(Frames.settings() + Frames.goAway(3))
    #expect(client.closes == [5: .refusedStream])
    #expect(client.session.openStreams == 2)
    #expect(
      client.session.request(line, fields: FieldBlock(), contentLength: nil, hasBody: false, owner: client) == nil)
    withExtendedLifetime(pair) {}
  }

  @Test func requestsThatWereNotSentAreRefused() throws {
    let client = try #require(Peer(.client))
    _ = client.output()
    client.receive(Frames.settings([(3, 1)]))
    var line = HTTP2RequestLine(method: .get, isSecure: false)
    line.target.append("/")
    line.authority.append("a")
    for _ in 0..<2 {
      _ = client.session.request(line, fields: FieldBlock(), contentLength: nil, hasBody: false, owner: client)
    }
    #expect(client.session.peerMaximumStreams == 1)
    _ = client.output()
    // The second one waits for the first; then there is to be none any more.
    client.receive(Frames.goAway(1))
    _ = client.output()
    #expect(client.closes == [3: .refusedStream])
  }
}
