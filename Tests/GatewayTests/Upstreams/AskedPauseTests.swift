import EventLoops
import HTTPModel
import Testing

@testable import Gateway

/// The pause that an answer asks for before the next try.
@Suite struct AskedPauseTests {
  /// 2026-11-30T16:00:00.5Z.
  private static let now = WallTime(seconds: 1_796_054_400, nanoseconds: 500_000_000)

  private func pause(_ value: String) -> UInt64? {
    let fields = FieldBlock()
    fields.append(.retryAfter, Array(value.utf8).span)
    return RetryPlan.asked(fields, now: Self.now)
  }

  @Test func aDateIsTheEndOfThePause() {
    #expect(pause("Mon, 30 Nov 2026 16:00:02 GMT") == 1_500_000_000)
    #expect(pause("Monday, 30-Nov-26 16:00:01 GMT") == 500_000_000)
  }

  /// However long ago: some programs write the year 1 where they have no time.
  @Test(arguments: [
    "Mon, 30 Nov 2026 16:00:00 GMT", "Thu Jan  1 00:00:00 1970", "Wed, 31 Dec 1969 23:59:59 GMT",
    "Sat, 01 Jan 1735 00:00:00 GMT", "Mon, 01 Jan 1601 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT",
    "Sat, 01 Jan 0000 00:00:00 GMT",
  ]) func aDateThatIsOverAsksForNoPause(date: String) {
    #expect(pause(date) == 0)
  }

  /// The clock counts to the year 2262.
  @Test(arguments: ["Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 2500 00:00:00 GMT", "99999999999"])
  func whatIsBeyondTheClockIsNotWaitedFor(value: String) throws {
    #expect(try #require(pause(value)) > 1 << 62)
  }

  @Test(arguments: ["", "soon", "1.5", "-1", "Mon, 30 Nov 2026 16:00:02", "2026-11-30"])
  func whatIsNeitherIsNoWish(value: String) { #expect(pause(value) == nil) }
}
