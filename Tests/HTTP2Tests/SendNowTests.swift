import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import RandomnessTestSupport
import Testing

/// Body bytes whose frames are made while they are lent: the peer sees what it would see of bytes that wait.
struct SendNowTests {
  /// Text, because what a peer writes down is text.
  private static func bytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    (start..<start + count).map { 0x20 + UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) % 0x5F }
  }

  /// A client with streams that the server has seen the head of.
  private func connected(_ settings: HTTP2Settings = HTTP2Settings(), streams count: Int = 1) throws -> (
    Pair, [HTTP2Stream]
  ) {
    let pair = try #require(Pair(HTTP2Settings(), settings))
    let streams = try (0..<count).map { _ in try #require(pair.request(.post, hasBody: true)) }
    pair.exchange()
    return (pair, streams)
  }

  /// Where two bodies begin to differ: a failure that shows megabytes tells nobody anything.
  private func difference(_ found: [UInt8]?, _ expected: [UInt8]) -> String? {
    guard let found else { return "there is none" }
    guard found.count == expected.count else { return "\(found.count) bytes, not \(expected.count)" }
    return found.indices.first { found[$0] != expected[$0] }.map { "at byte \($0)" }
  }

  private func dataFrames(_ output: [UInt8]) -> [Int] {
    SentFrame.parse(output).filter { $0.type == 0 }.map(\.payload.count)
  }

  @Test func nothingWaitsOnTheStream() throws {
    let (pair, streams) = try connected()
    pair.client.sendNow(Self.bytes(40_000), on: streams[0])
    #expect(streams[0].output.count == 0)
    #expect(pair.client.session.wantsToSend)
    #expect(dataFrames(pair.client.output()) == [16_384, 16_384, 7_232])
    #expect(!pair.client.session.wantsToSend)
    #expect(pair.client.session.madeCapacity == 0)
  }

  @Test func theHeadGoesFirstWhenItHasNotLeft() throws {
    let pair = try #require(Pair())
    let stream = try #require(pair.request(.post, hasBody: true))
    pair.client.sendNow(Self.bytes(100), on: stream)
    pair.client.session.end(stream, trailers: block([("x-trailer", "1")]))
    pair.exchange()
    #expect(difference(pair.server.bodies[stream.id], Self.bytes(100)) == nil)
    #expect(pair.server.events.last?.hasSuffix("x-trailer=1") == true)
  }

  @Test func smallOnesShareAFrameButForTheFirst() throws {
    let (pair, streams) = try connected()
    for index in 0..<10 { pair.client.sendNow(Self.bytes(100, from: index * 100), on: streams[0]) }
    #expect(dataFrames(pair.client.output()) == [100, 900])
    // What has gathered goes with the first that makes it worth a frame.
    for index in 10..<13 { pair.client.sendNow(Self.bytes(100, from: index * 100), on: streams[0]) }
    pair.client.sendNow(Self.bytes(3_000, from: 1_300), on: streams[0])
    #expect(streams[0].output.count == 0)
    let output = pair.client.output()
    #expect(dataFrames(output) == [100, 3_200])
    pair.server.receive(output)
    #expect(difference(pair.server.bodies[streams[0].id], Array(Self.bytes(4_300).dropFirst(1_000))) == nil)
  }

  @Test func whatAWindowKeepsWaits() throws {
    var settings = HTTP2Settings()
    settings.streamWindow = 20_000
    let (pair, streams) = try connected(settings)
    pair.server.reads = false
    pair.client.sendNow(Self.bytes(50_000), on: streams[0])
    #expect(streams[0].output.count == 30_000)
    pair.client.sendNow(Self.bytes(50_000, from: 50_000), on: streams[0])
    #expect(streams[0].output.count == 80_000)
    pair.exchange()
    let theirs = try #require(pair.server.streams.first)
    #expect(theirs.input.count == 20_000)
    pair.server.reads = true
    pair.server.take(theirs)
    pair.client.session.end(streams[0], trailers: nil)
    pair.exchange()
    #expect(difference(pair.server.bodies[theirs.id], Self.bytes(100_000)) == nil)
    #expect(pair.client.drains == 1)
  }

  /// A peer that takes nothing makes this side hold a bounded number of frames; the rest waits on its stream, where it is
  /// counted.
  @Test func framesThatWaitAreBounded() throws {
    var settings = HTTP2Settings()
    settings.streamWindow = 8 << 20
    settings.connectionWindow = 8 << 20
    let (pair, streams) = try connected(settings)
    for index in 0..<64 { pair.client.sendNow(Self.bytes(64 << 10, from: index * (64 << 10)), on: streams[0]) }
    #expect(pair.client.session.madeCapacity <= 256 << 10)
    #expect(streams[0].output.count >= (64 * (64 << 10)) - (256 << 10))
    pair.client.session.end(streams[0], trailers: nil)
    pair.exchange()
    #expect(difference(pair.server.bodies[streams[0].id], Self.bytes(64 * (64 << 10))) == nil)
  }

  @Test func insideACallOfTheSessionItWaits() throws {
    let pair = try #require(Pair())
    pair.server.onOpen = { server, stream in
      server.respond(stream)
      server.sendNow(Self.bytes(5_000), on: stream)
      #expect(stream.output.count == 5_000)
      server.session.end(stream, trailers: nil)
    }
    let stream = try #require(pair.request())
    pair.exchange()
    #expect(difference(pair.client.bodies[stream.id], Self.bytes(5_000)) == nil)
  }

  /// Making a frame for one stream ends another: nobody is called who may be in the middle of something.
  @Test func ownersHearOfEndsLater() throws {
    let (pair, streams) = try connected(streams: 2)
    pair.client.session.reset(streams[1], .cancel)
    pair.client.sendNow(Self.bytes(5_000), on: streams[0])
    #expect(streams[1].isClosed)
    #expect(pair.client.closes.isEmpty)
    #expect(pair.client.session.wantsToSend)
    pair.client.sendNow(Self.bytes(10), on: streams[1])
    pair.client.session.end(streams[1], trailers: nil)
    pair.exchange()
    #expect(pair.client.closes == [streams[1].id: .cancel])
    #expect(pair.server.closes == [streams[1].id: .cancel])
    #expect(difference(pair.server.bodies[streams[0].id], Self.bytes(5_000)) == nil)
  }

  @Test func endsAreToldBeforeWhatComesNext() throws {
    let (pair, streams) = try connected(streams: 2)
    pair.client.session.reset(streams[1], .cancel)
    pair.client.sendNow(Self.bytes(5_000), on: streams[0])
    pair.client.receive(Frames.ping)
    #expect(pair.client.closes == [streams[1].id: .cancel])
    pair.client.release(streams)
  }

  @Test func aStreamThatIsOverTakesNothing() throws {
    let (pair, streams) = try connected()
    pair.client.session.reset(streams[0], .cancel)
    pair.exchange()
    var buffer = ByteBuffer(Self.bytes(5_000))
    pair.client.session.sendNow(&buffer, 4_000, on: streams[0])
    #expect(difference(buffer.bytes, Array(Self.bytes(5_000).dropFirst(4_000))) == nil)
    #expect(pair.client.output().isEmpty)
  }

  /// Whatever order streams send, end, are reset and are carried in, at once or not: each that ends in order is whole.
  @Test(arguments: 0..<60)
  func randomOrders(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var settings = HTTP2Settings()
    settings.streamWindow = [1_000, 20_000, 65_535, 1 << 20].randomElement(using: &random) ?? 0
    settings.connectionWindow = [65_535, 200_000, 8 << 20].randomElement(using: &random) ?? 0
    let (pair, streams) = try connected(settings, streams: 4)
    var sent = [[UInt8]](repeating: [], count: streams.count)
    var over = Set<Int>()
    for _ in 0..<120 {
      let index = Int.random(in: streams.indices, using: &random)
      let stream = streams[index]
      switch Int.random(in: 0..<12, using: &random) {
      case 0 where Int.random(in: 0..<5, using: &random) == 0:
        pair.client.session.end(
          stream, trailers: Int.random(in: 0..<2, using: &random) == 0 ? nil : block([("x-trailer", "1")]))
        over.insert(index)
      case 1 where Int.random(in: 0..<8, using: &random) == 0:
        pair.client.session.reset(stream, .cancel)
        over.insert(index)
      case 2...8:
        guard !over.contains(index) else { continue }
        let bytes = Self.bytes(
          [0, 1, 100, 3_000, 16_384, 70_000].randomElement(using: &random) ?? 0, from: sent[index].count)
        if Int.random(in: 0..<4, using: &random) == 0 {
          pair.client.send(bytes, on: stream)
        } else {
          pair.client.sendNow(bytes, on: stream)
        }
        sent[index] += bytes
      case 9: pair.server.receive(pair.client.output())
      case 10: pair.client.receive(pair.server.output())
      default: pair.exchange()
      }
    }
    for stream in streams { pair.client.session.end(stream, trailers: nil) }
    pair.exchange()
    for (index, stream) in streams.enumerated() where pair.server.closes[stream.id] == nil {
      #expect(difference(pair.server.bodies[stream.id] ?? [], sent[index]) == nil)
      #expect(stream.output.count == 0 && stream.hasSentEnd)
    }
    #expect(pair.client.faults.isEmpty && pair.server.faults.isEmpty)
    #expect(pair.client.session.madeCapacity == 0)
    pair.client.release(streams)
    pair.server.release([])
  }
}
