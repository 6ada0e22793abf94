import HTTP1TestSupport
import RandomnessTestSupport
import Testing

/// Fixtures with random damage: the parsers must not trap, and must say the same however the bytes come.
@Suite("Mutations")
struct MutationTests {
  /// A fixed seed, so that a failure can be run again; it is printed with each failure.
  static let seed: UInt64 = 0x7475_726E_6F75_7431

  /// What is put into the middle of a message: marks that the grammar turns on.
  static let fragments: [String] = [
    "\r", "\n", "\r\n", "\r\n\r\n", " ", "\t", ":", ",", ";", "?", "#", "\0", "\u{7F}", "\u{FF}", "0", "f", "5\r\n",
    "0\r\n\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 3\r\n", "Host: b\r\n", "HTTP/1.0", "GET / ",
    "http://",
    "Connection: host, x-a\r\n",
  ]

  static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let position = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where position < bytes.count:
        bytes[position] = UInt8.random(in: .min ... .max, using: &random)
      case 1 where position < bytes.count:
        bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 1...8, using: &random)))
      case 2:
        bytes.insert(contentsOf: (fragments.randomElement(using: &random) ?? "").utf8, at: position)
      case 3:
        let start = Int.random(in: 0...bytes.count, using: &random)
        let copied = Array(bytes[start..<min(bytes.count, start + 24)])
        bytes.insert(contentsOf: copied, at: position)
      default:
        bytes.removeLast(min(bytes.count, Int.random(in: 0...4, using: &random)))
      }
    }
    return bytes
  }

  @Test("damaged messages mean the same whole, byte by byte and in random pieces")
  func agree() {
    var random = SeededGenerator(seed: Self.seed)
    print("mutation seed \(Self.seed)")
    var refused = 0
    for round in 0..<4_000 {
      let fixture = Fixture.all[round % Fixture.all.count]
      let bytes = Self.mutated(fixture.bytes, &random)
      let whole = ConnectionTranscript.of(fixture.side, bytes)
      if whole.last?.hasPrefix("refused") == true { refused += 1 }
      let one = Int.random(in: 0...bytes.count, using: &random)
      let two = Int.random(in: one...bytes.count, using: &random)
      let pieces = ConnectionTranscript.of(fixture.side, [bytes[..<one], bytes[one..<two], bytes[two...]])
      let byteWise = ConnectionTranscript.byteWise(fixture.side, bytes)
      #expect(
        whole == byteWise && whole == pieces,
        "seed \(Self.seed) round \(round): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
    }
    // The damage is neither always fatal nor always harmless, so both ends were tried.
    #expect(refused > 400 && refused < 3_900)
  }

  @Test("what is accepted of damaged requests is one message for the next hop too")
  func rewritten() {
    var random = SeededGenerator(seed: Self.seed)
    let fixtures = Fixture.requests + Fixture.requestBodies
    var requests = 0
    for round in 0..<2_000 {
      let check = RewriteCheck(Self.mutated(fixtures[round % fixtures.count].bytes, &random))
      requests += check.requests
      #expect(check.fault == nil, "seed \(Self.seed) round \(round)")
    }
    #expect(requests > 200)
  }

  @Test("random bytes are refused or wait, and never trap")
  func noise() {
    var random = SeededGenerator(seed: Self.seed)
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      for side in ConnectionTranscript.Side.allCases {
        #expect(ConnectionTranscript.of(side, bytes) == ConnectionTranscript.byteWise(side, bytes), "\(bytes)")
      }
    }
  }
}
