import EventLoops
import Testing

@testable import Gateway

@Suite struct PeerLinesTests {
  @Test func aFloodWritesAFewLinesASecondAndSaysHowManyItLeftOut() {
    var lines = PeerLines()
    let begin = Instant(nanoseconds: 5_000_000_000)
    for _ in 0..<PeerLines.most { #expect(lines.next(at: begin) == 0) }
    for step in 0..<1000 { #expect(lines.next(at: begin + .microseconds(999 * step)) == nil) }
    let later = begin + .seconds(1)
    #expect(lines.next(at: later) == 1000)
    for _ in 1..<PeerLines.most { #expect(lines.next(at: later) == 0) }
    #expect(lines.next(at: later) == nil)
    #expect(lines.next(at: later + .seconds(60)) == 1)
  }

  @Test func aLineNowAndThenIsAlwaysWritten() {
    var lines = PeerLines()
    for number in 0..<100 { #expect(lines.next(at: Instant(nanoseconds: UInt64(number) * 100_000_000)) == 0) }
  }
}
