import Testing

@testable import Gateway

@Suite struct NameTroublesTests {
  @Test func eachLoopSeesItAndOneSaysIt() {
    let troubles = NameTroubles()
    #expect(troubles.text.isEmpty)
    #expect(troubles.failed("b.test:80", "not found", at: 1))
    #expect(!troubles.failed("b.test:80", "timed out", at: 2))
    #expect(troubles.failed("a.test:80", "not found", at: 3))
    #expect(troubles.text == "a.test:80: not found; b.test:80: timed out")
    #expect(troubles.resolved("b.test:80"))
    #expect(!troubles.resolved("b.test:80"))
    #expect(troubles.text == "a.test:80: not found")
    troubles.forget("a.test:80")
    #expect(troubles.text.isEmpty)
  }

  /// Shown at all times, and said once a minute at most: what was not said has no end that is.
  @Test func aNameThatComesAndGoesFillsNoLog() {
    let troubles = NameTroubles()
    let second: UInt64 = 1_000_000_000
    var lines = 0
    for round in 0..<600 {
      let now = second * UInt64(round + 1)
      if troubles.failed("a.test", "not found", at: now) { lines += 1 }
      #expect(troubles.text == "a.test: not found")
      if troubles.resolved("a.test") { lines += 1 }
    }
    #expect(lines == 20)
  }
}
