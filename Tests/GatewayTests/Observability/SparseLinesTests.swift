import EventLoops
import Testing

@testable import Gateway

@Suite struct SparseLinesTests {
  @Test func aFloodWritesAFewLinesASecondAndSaysHowManyItLeftOut() {
    var lines = SparseLines(20, per: .seconds(1))
    let begin = Instant(nanoseconds: 5_000_000_000)
    for _ in 0..<20 { #expect(lines.next(at: begin) == 0) }
    for step in 0..<1000 { #expect(lines.next(at: begin + .microseconds(999 * step)) == nil) }
    let later = begin + .seconds(1)
    #expect(lines.next(at: later) == 1000)
    for _ in 1..<20 { #expect(lines.next(at: later) == 0) }
    #expect(lines.next(at: later) == nil)
    #expect(lines.next(at: later + .seconds(60)) == 1)
  }

  @Test func aLineNowAndThenIsAlwaysWritten() {
    var lines = SparseLines(20, per: .seconds(1))
    for number in 0..<100 { #expect(lines.next(at: Instant(nanoseconds: UInt64(number) * 100_000_000)) == 0) }
  }

  @Test func ofOneInATimeTheNextSaysHowManyWereLeftOut() {
    var lines = SparseLines(1, per: .seconds(10))
    let begin = Instant(nanoseconds: 1)
    #expect(lines.next(at: begin) == 0)
    // Another loop's clock may be behind.
    #expect(lines.next(at: Instant(nanoseconds: 0)) == nil)
    #expect(lines.next(at: begin + .seconds(9)) == nil)
    #expect(lines.next(at: begin + .seconds(10)) == 2)
    #expect(lines.next(at: begin + .seconds(19)) == nil)
    #expect(lines.next(at: begin + .seconds(20)) == 1)
  }
}
