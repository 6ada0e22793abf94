import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// A slow reader stops its stream and nothing else; what is held is bounded.
struct FlowControlTests {
  private static let bulk = [UInt8](repeating: 7, count: 3 << 20)

  @Test func bulkPassesWhenItIsRead() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.respond(stream)
      server.send(Self.bulk, on: stream)
      server.session.end(stream, trailers: nil)
    }
    let stream = try #require(pair.request())
    pair.exchange()
    #expect(pair.client.bodies[stream.id] == Self.bulk)
    #expect(pair.client.closes[1] == .noError)
    #expect(pair.server.drains == 0)
  }

  @Test func aSlowReaderStopsOneStream() throws {
    var settings = HTTP2Settings()
    settings.streamWindow = 100_000
    settings.connectionWindow = 150_000
    let pair = try #require(Pair(settings))
    pair.client.reads = false
    pair.server.onOpen = { server, stream in
      server.respond(stream)
      server.send(Self.bulk, on: stream)
      server.session.end(stream, trailers: nil)
    }
    let slow = try #require(pair.request())
    pair.exchange()
    #expect(slow.input.count == 100_000)
    // The connection's credit came back on receipt: others pass, far more than its window.
    pair.client.reads = true
    let quick = try #require(pair.request())
    pair.exchange()
    #expect(pair.client.bodies[quick.id] == Self.bulk)
    #expect(slow.input.count == 100_000)
    // What is forwarded makes room for as much.
    pair.client.reads = false
    pair.client.take(slow)
    pair.exchange()
    #expect(slow.input.count == 100_000)
    pair.client.reads = true
    pair.client.take(slow)
    pair.exchange()
    #expect(pair.client.bodies[slow.id] == Self.bulk)
  }

  @Test func uploadsStopTheSameWay() throws {
    var settings = HTTP2Settings()
    settings.streamWindow = 70_000
    let pair = try #require(Pair(HTTP2Settings(), settings))
    pair.server.reads = false
    let one = try #require(pair.request(.post, hasBody: true))
    pair.exchange()
    pair.client.send(Self.bulk, on: one)
    pair.exchange()
    let theirs = try #require(pair.server.streams.first)
    #expect(theirs.input.count == 70_000)
    #expect(one.output.count == Self.bulk.count - 70_000)
    #expect(pair.client.drains == 0)
    pair.server.reads = true
    let two = try #require(pair.request(.post, hasBody: true))
    pair.client.send(Self.bulk, on: two)
    pair.client.session.end(two, trailers: nil)
    pair.exchange()
    #expect(pair.server.bodies[two.id] == Self.bulk)
    #expect(theirs.input.count == 70_000)
  }

  /// A small answer does not wait for the end of large ones that began before it, whatever clients say of priorities.
  @Test(arguments: [1, 4, 8], [nil, "u=0"]) func answersTakeTurns(others: Int, priority: String?) throws {
    var settings = HTTP2Settings()
    settings.streamWindow = 4 << 20
    settings.connectionWindow = 64 << 20
    let pair = try #require(Pair(settings))
    pair.server.onOpen = { server, stream in
      server.respond(stream)
      server.send(stream.request.targetText == "/small" ? [5] : Self.bulk, on: stream)
      server.session.end(stream, trailers: nil)
    }
    func carry(batches: Int) {
      for _ in 0..<batches {
        pair.server.receive(pair.client.output())
        var batch = ByteBuffer()
        pair.server.session.send(into: &batch, limit: 48 << 10)
        pair.client.receive(batch.bytes)
      }
    }
    let fields = priority.map { [("priority", $0)] } ?? []
    let large = try (0..<others).map { _ in try #require(pair.request(.get, "/large", fields: fields)) }
    carry(batches: 8)
    let small = try #require(pair.request(.get, "/small"))
    carry(batches: 8)
    #expect(pair.client.bodies[small.id] == [5])
    #expect(large.allSatisfy { pair.client.closes[$0.id] == nil })
    pair.exchange()
    #expect(large.allSatisfy { pair.client.bodies[$0.id] == Self.bulk })
  }

  @Test func outputIsMadeInPieces() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.respond(stream)
      server.send([UInt8](repeating: 1, count: 200_000), on: stream)
    }
    _ = pair.request()
    pair.server.receive(pair.client.output())
    var piece = ByteBuffer()
    pair.server.session.send(into: &piece, limit: 20_000)
    #expect(piece.count >= 20_000 && piece.count < 20_000 + 16_384 + 9)
    #expect(pair.server.session.wantsToSend)
  }

  @Test func moreThanTheWindowIsAFault() throws {
    var settings = HTTP2Settings()
    settings.streamWindow = 65_535
    settings.connectionWindow = 1 << 20
    let server = try #require(Peer(.server, settings))
    server.reads = false
    server.receive(Frames.start + Frames.settingsAcknowledgement)
    _ = server.output()
    server.receive(Frames.headers(1, Message.post, end: false))
    let data = Frames.frame(0, 0, 1, [UInt8](repeating: 0, count: 16_000))
    for _ in 0..<5 { server.receive(data) }
    let frames = SentFrame.parse(server.output())
    #expect(frames.resets.map(\.code) == [3] || frames.goAways.map(\.code) == [3])
    #expect(server.streams.first?.input.count ?? 0 <= 65_535)
    #expect(server.faults == [.streamFlowControl] || server.faults == [.flowControl])
  }
}
