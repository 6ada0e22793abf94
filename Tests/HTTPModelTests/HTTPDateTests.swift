import RandomnessTestSupport
import Testing

@testable import HTTPModel

@Suite struct HTTPDateTests {
  /// 2026-11-30T16:00:00Z.
  private static let now: Int64 = 1_796_054_400

  private func read(_ text: String, now: Int64 = now) -> Int64? {
    HTTPDate.read(Array(text.utf8).span, now: now)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ]) func allThreeFormsAreRead(text: String) {
    #expect(read(text) == 784_111_777)
  }

  @Test func twoDigitsOfAYearMeanTheNearestOneThatIsNotFarAhead() {
    #expect(read("Sunday, 06-Nov-70 00:00:00 GMT") == read("Thu, 06 Nov 2070 00:00:00 GMT"))
    #expect(read("Sunday, 06-Nov-77 00:00:00 GMT") == read("Sun, 06 Nov 1977 00:00:00 GMT"))
    let turn: Int64 = 4_099_680_000
    #expect(read("Sunday, 06-Nov-01 00:00:00 GMT", now: turn) == read("Sun, 06 Nov 2101 00:00:00 GMT"))
  }

  @Test func aTwoDigitDayOfTheOldFormAndALeapSecondAreRead() {
    #expect(read("Wed Nov 16 08:49:37 1994") == 784_975_777)
    #expect(read("Sat, 31 Dec 2016 23:59:60 GMT") == read("Sat, 31 Dec 2016 23:59:59 GMT"))
    #expect(read("Thu, 29 Feb 2024 00:00:00 GMT") != nil)
  }

  @Test(arguments: [
    "", "120", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 30 Feb 1994 08:49:37 GMT",
    "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Som, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 November 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
    "sun, 06 nov 1994 08:49:37 gmt", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 +0000",
  ]) func anythingElseIsNoDate(text: String) {
    #expect(read(text) == nil)
  }

  /// Cut short or with one byte changed, it is read as some time or refused, and never a crash.
  @Test(arguments: 1...4) func damagedDates(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
    for form in forms {
      let whole = Array(form.utf8)
      for end in 0..<whole.count { #expect(HTTPDate.read(Array(whole[..<end]).span, now: Self.now) == nil) }
      for _ in 0..<500 {
        var changed = whole
        changed[Int.random(in: 0..<changed.count, using: &random)] = .random(in: 0...255, using: &random)
        _ = HTTPDate.read(changed.span, now: .random(in: -1 << 40..<1 << 40, using: &random))
      }
    }
  }
}
