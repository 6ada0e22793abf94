import Bytes
import RandomnessTestSupport
import Testing

@testable import Redis

@Suite struct ReplyReaderTests {
  private static let samples: [(String, RedisValue)] = [
    ("+OK\r\n", .status("OK")),
    ("-ERR unknown command\r\n", .error("ERR unknown command")),
    (":-42\r\n", .integer(-42)),
    ("$-1\r\n", .null),
    ("*-1\r\n", .null),
    ("$0\r\n\r\n", .bulk([])),
    ("$5\r\na\r\nbc\r\n", .bulk(Array("a\r\nbc".utf8))),
    ("*0\r\n", .array([])),
    (
      "*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n",
      .array([.bulk([97]), .array([.integer(1), .null]), .status("x")])
    ),
  ]

  private func read(_ pieces: [ArraySlice<UInt8>], limits: RedisReplyReader.Limits = .init()) throws -> [RedisValue] {
    let reader = RedisReplyReader(limits: limits)
    var values: [RedisValue] = []
    for piece in pieces {
      try reader.feed(Array(piece).span)
      while let value = try reader.next() { values.append(value) }
    }
    return values
  }

  @Test func everyKindOfReplyIsReadWhole() throws {
    for (text, value) in Self.samples { #expect(try read([Array(text.utf8)[...]]) == [value]) }
  }

  @Test func everySplitGivesTheSameReplies() throws {
    let bytes = Array(Self.samples.map(\.0).joined().utf8)
    let values = Self.samples.map(\.1)
    for cut in 0...bytes.count { #expect(try read([bytes[..<cut], bytes[cut...]]) == values) }
    #expect(try read(bytes.indices.map { bytes[$0...$0] }) == values)
  }

  @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "?\r\n", "*2\r\n?\r\n", "$x\r\n"])
  func whatIsNoReplyEndsIt(text: String) {
    #expect(throws: RedisFault.self) { try read([Array(text.utf8)[...]]) }
  }

  @Test func aFaultStays() throws {
    let reader = RedisReplyReader()
    try reader.feed(Array("!\r\n".utf8).span)
    #expect(throws: RedisFault.self) { try reader.next() }
    #expect(throws: RedisFault.self) { try reader.feed(Array("+OK\r\n".utf8).span) }
    #expect(throws: RedisFault.self) { try reader.next() }
  }

  @Test(arguments: [
    "*1000000000\r\n", "*101\r\n", "*2\r\n*60\r\n" + String(repeating: ":1\r\n", count: 60) + "*60\r\n",
    String(repeating: "*1\r\n", count: 20),
  ])
  func moreValuesThanAreAllowedEndIt(text: String) {
    var limits = RedisReplyReader.Limits()
    limits.values = 100
    #expect(throws: RedisFault.self) { try read([Array(text.utf8)[...]], limits: limits) }
  }

  @Test func valuesAreCountedForEachReply() throws {
    var limits = RedisReplyReader.Limits()
    limits.values = 4
    let text = String(repeating: "*3\r\n:1\r\n:2\r\n:3\r\n", count: 50)
    #expect(try read([Array(text.utf8)[...]], limits: limits).count == 50)
  }

  @Test func aReplyThatNeverEndsIsNotCollected() throws {
    var limits = RedisReplyReader.Limits()
    limits.bytes = 1_000
    let reader = RedisReplyReader(limits: limits)
    try reader.feed(Array("$100000\r\n".utf8).span)
    #expect(try reader.next() == nil)
    let piece = [UInt8](repeating: 97, count: 600)
    try reader.feed(piece.span)
    #expect(try reader.next() == nil)
    let fault = #expect(throws: RedisFault.self) { try reader.feed(piece.span) }
    #expect(fault?.kind == .tooLarge)
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func bytesOfAnyKindNeverCrash(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("*$+-:\r\n0123456789ab".utf8)
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }
      _ = try? read([bytes[...]])
    }
  }
}
