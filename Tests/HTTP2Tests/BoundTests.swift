import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

/// What a peer may cost: up to each bound all is well, one more ends the connection with ENHANCE_YOUR_CALM.
struct BoundTests {
  private static let settings: HTTP2Settings = {
    var settings = HTTP2Settings()
    settings.bounds.resets = FloodBound(burst: 20, perSecond: 5)
    settings.bounds.settings = FloodBound(burst: 10, perSecond: 2)
    settings.bounds.pings = FloodBound(burst: 15, perSecond: 3)
    settings.bounds.emptyFrames = FloodBound(burst: 25, perSecond: 4)
    settings.bounds.windowUpdates = FloodBound(burst: 30, perSecond: 6)
    return settings
  }()

  struct Flood: Sendable, CustomTestStringConvertible {
    var name: String
    var kind: HTTP2Fault.Kind
    /// Frames of the kind that the start has already.
    var before = 0
    var bound: FloodBound
    var open: [UInt8] = []
    /// The nth one.
    var one: @Sendable (Int) -> [UInt8]
    var testDescription: String { name }
  }

  static let floods: [Flood] = [
    Flood(
      name: "rapid reset", kind: .resetFlood, bound: settings.bounds.resets,
      one: { number in
        let stream = UInt32(number * 2 + 1)
        return Frames.headers(stream, Message.get) + Frames.reset(stream)
      }),
    Flood(
      name: "resets that the client provokes", kind: .resetFlood, bound: settings.bounds.resets,
      one: { Frames.headers(UInt32($0 * 2 + 1), Message.get([":path": "x"])) }),
    Flood(
      name: "SETTINGS", kind: .settingsFlood, before: 1, bound: settings.bounds.settings,
      one: { _ in Frames.settings() }),
    Flood(name: "PING", kind: .pingFlood, bound: settings.bounds.pings, one: { _ in Frames.ping }),
    Flood(
      name: "empty DATA", kind: .emptyFrameFlood, bound: settings.bounds.emptyFrames,
      open: Frames.headers(1, Message.post, end: false), one: { _ in Frames.data(1, "") }),
    Flood(
      name: "PRIORITY", kind: .emptyFrameFlood, bound: settings.bounds.emptyFrames, one: { _ in Frames.priority(1) }),
    Flood(
      name: "WINDOW_UPDATE", kind: .windowUpdateFlood, bound: settings.bounds.windowUpdates,
      one: { _ in Frames.windowUpdate(0, 1) }),
  ]

  @Test(arguments: floods)
  func flood(_ flood: Flood) throws {
    let server = try #require(Peer(.server, Self.settings))
    server.receive(Frames.start + flood.open)
    let allowed = flood.bound.burst - flood.before
    for number in 0..<allowed {
      server.receive(flood.one(number))
      #expect(SentFrame.parse(server.output()).goAways.isEmpty)
    }
    #expect(server.session.failure == nil)
    // Seconds later some more may come.
    server.now += 2_000_000_000
    for number in 0..<2 * flood.bound.perSecond {
      server.receive(flood.one(allowed + number))
      #expect(SentFrame.parse(server.output()).goAways.isEmpty)
    }
    #expect(server.session.failure == nil)
    server.receive(flood.one(allowed + 2 * flood.bound.perSecond))
    let frames = SentFrame.parse(server.output())
    #expect(server.session.failure?.kind == flood.kind)
    #expect(server.faults.last == flood.kind)
    #expect(frames.goAways.map(\.code) == [11])
    #expect(server.session.isFinished)
  }

  @Test func windowUpdatesForWhatWasSentAreFree() throws {
    let server = try #require(Peer(.server, Self.settings))
    server.onOpen = { server, stream in
      server.respond(stream)
      server.send([UInt8](repeating: 0, count: 60_000), on: stream)
    }
    server.receive(Frames.start + Frames.headers(1, Message.get))
    _ = server.output()
    for _ in 0..<8 { server.receive(Frames.windowUpdate(1, 1) + Frames.windowUpdate(0, 1)) }
    for _ in 0..<Self.settings.bounds.windowUpdates.burst { server.receive(Frames.windowUpdate(0, 1)) }
    #expect(server.session.failure == nil)
  }

  @Test func continuations() throws {
    let section = Frames.section(Message.get)
    // What is counted are frames, in however many pieces they come.
    for (extra, piece) in [(0, 10_000), (1, 10_000), (0, 1), (1, 1), (0, 4), (1, 4)] {
      let server = try #require(Peer(.server))
      var bytes = Frames.start + Frames.headers(1, fragment: [], whole: false)
      let count = server.session.settings.bounds.continuations + extra
      for number in 1...count {
        bytes += Frames.continuation(1, number == count ? section : [], whole: number == count)
      }
      for start in stride(from: 0, to: bytes.count, by: piece) {
        server.receive(Array(bytes[start..<Swift.min(start + piece, bytes.count)]))
      }
      #expect(server.events.isEmpty == (extra == 1))
      #expect(server.session.failure?.kind == (extra == 1 ? .continuationFlood : nil))
      #expect(SentFrame.parse(server.output()).goAways.map(\.code) == (extra == 1 ? [11] : []))
    }
  }

  @Test func headerBomb() throws {
    // One field goes into the table, and each byte that follows stands for all of it.
    let server = try #require(Peer(.server))
    let value = String(repeating: "v", count: 4000)
    let indexed = [0x40] + Frames.section([("bomb", value)]).dropFirst()
    var bytes = Frames.start + Frames.headers(1, fragment: Frames.section(Message.get) + indexed, whole: false)
    bytes += Frames.continuation(1, [UInt8](repeating: 0xBE, count: 16_000), whole: true)
    server.receive(bytes)
    #expect(server.session.failure?.kind == .headerBomb)
    #expect(server.events.isEmpty)
    #expect(SentFrame.parse(server.output()).goAways.map(\.code) == [11])
  }

  @Test func manyTinyFieldsAreABombToo() throws {
    let server = try #require(Peer(.server))
    server.receive(Frames.start + Frames.headers(1, Message.get([:], (0..<600).map { _ in ("a", "") })))
    #expect(server.session.failure?.kind == .headerBomb)
  }

  @Test func concurrentStreams() throws {
    var settings = HTTP2Settings()
    settings.maximumConcurrentStreams = 3
    let server = try #require(Peer(.server, settings))
    server.receive(Frames.start + Frames.settingsAcknowledgement)
    _ = server.output()
    for stream in [1, 3, 5, 7] as [UInt32] { server.receive(Frames.headers(stream, Message.get)) }
    #expect(server.streams.map(\.id) == [1, 3, 5])
    let frames = SentFrame.parse(server.output())
    #expect(frames.resets.map(\.code) == [7] || frames.goAways.map(\.code) == [1])
    #expect(server.faults == [.tooManyStreams] || server.faults == [.malformedFrames])
  }

  @Test func streamsBeforeTheSettingsAreRefusedSoftly() throws {
    var settings = HTTP2Settings()
    settings.maximumConcurrentStreams = 2
    let server = try #require(Peer(.server, settings))
    server.receive(Frames.start)
    for stream in [1, 3, 5] as [UInt32] { server.receive(Frames.headers(stream, Message.get)) }
    let frames = SentFrame.parse(server.output())
    #expect(server.streams.map(\.id) == [1, 3])
    #expect(frames.resets.map(\.code) == [7])
    #expect(server.faults == [.tooManyStreams])
  }

  @Test func answersThatNobodyTakes() throws {
    var settings = HTTP2Settings()
    settings.bounds.acknowledgements = 10
    let server = try #require(Peer(.server, settings))
    server.receive(Frames.start)
    for _ in 0..<20 { server.receive(Frames.ping) }
    #expect(server.session.failure?.kind == .acknowledgementFlood)
    #expect(SentFrame.parse(server.output()).goAways.map(\.code) == [11])
  }

  @Test func aSectionThatIsNotWholeIsKnown() throws {
    let server = try #require(Peer(.server))
    server.receive(Frames.start + Frames.headers(1, fragment: Frames.section(Message.get), whole: false))
    #expect(server.session.isInsideSection)
    server.receive(Frames.continuation(1, [], whole: true))
    #expect(!server.session.isInsideSection)
  }

  /// The limits that the documentation names.
  @Test func defaults() {
    let bounds = HTTP2Bounds()
    #expect(bounds.resets == FloodBound(burst: 500, perSecond: 50))
    #expect(bounds.continuations == 8)
    #expect(bounds.settings == FloodBound(burst: 32, perSecond: 4))
    #expect(bounds.pings == FloodBound(burst: 200, perSecond: 20))
    #expect(bounds.emptyFrames == FloodBound(burst: 500, perSecond: 50))
    #expect(bounds.windowUpdates == FloodBound(burst: 1000, perSecond: 100))
    #expect(bounds.acknowledgements == 256)
    #expect(bounds.headerBombFactor == 4)
    #expect(HTTP2Settings().maximumConcurrentStreams == 128)
  }
}
