import RandomnessTestSupport
import Testing

@testable import Migration

@Suite struct VersionTests {
  private func order(_ left: String, _ right: String) throws -> Int {
    let (one, other) = (Array(left.utf8), Array(right.utf8))
    guard let first = AppVersion(one.span), let second = AppVersion(other.span) else { throw NoVersion() }
    return first.compared(one.span, to: second, other.span)
  }

  private struct NoVersion: Error {}

  /// Each less than the next.
  static let ascending = [
    "0", "0.0.1", "4.9.9-alpha", "4.9.9-alpha.1", "4.9.9-alpha.beta", "4.9.9-beta", "4.9.9-beta.2", "4.9.9-beta.11",
    "4.9.9-rc.1", "4.9.9", "4.10-1", "4.10-1-x", "4.10", "4.10.0.1", "5.0-beta", "5.0", "10.0.0", "2024.11.30",
    "18446744073709551615",
  ]

  @Test func theyAreOrdered() throws {
    for (place, one) in Self.ascending.enumerated() {
      for (otherPlace, other) in Self.ascending.enumerated() {
        #expect(try order(one, other) == (place - otherPlace).signum(), "\(one) and \(other)")
      }
    }
  }

  @Test(arguments: [
    ("4.10", "4.10.0"), ("v5", "5.0.0"), ("V5.1", "5.1"), ("5.0+build.7", "5"), ("5.0-rc.1+x", "5-rc.1"),
    ("4.9.9 (1234)", "4.9.9"), ("05.01", "5.1"), ("5-01", "5-1"), ("5.0-rc (77)", "5-rc"),
  ])
  func theseAreTheSame(_ left: String, _ right: String) throws { #expect(try order(left, right) == 0) }

  static let junk = [
    "", "v", "junk", "5.", ".5", "5..1", "5.x", "5-", "5-a..b", "5-a_b", "-5", "+5", "5b2", "5.0b", "5,0", " 5", "vv5",
    "18446744073709551616", "1.2.3.4.5.6.7.8.9", "5.0\u{0}", "٥", String(repeating: "1", count: 129),
  ]

  @Test(arguments: junk)
  func theseAreNone(_ text: String) throws {
    #expect(AppVersion(Array(text.utf8).span) == nil)
    let any = try #require(VersionRange(">=0"))
    #expect(any.contains(Array(text.utf8).span) == nil)
  }

  @Test(arguments: [
    (">=5.2.0", "5.2", true), (">=5.2.0", "5.10", true), (">=5.2.0", "5.2.0-beta", false), (">5.2", "5.2.0", false),
    (">5.2", "5.2.0.1", true), ("<=4.10", "4.10.0", true), ("<=4.10", "4.9.9", true), ("<4.10", "4.10", false),
    ("=5.0", "5", true), ("5.0", "5.0.0", true), ("==5.0", "5.0.1", false), (">=5.2, <6", "5.9", true),
    (">=5.2,<6", "6.0", false), (" >= 5.2 , < 6 ", "5.2", true), ("<6", "6.0-beta", true),
  ])
  func rangesHold(_ range: String, _ version: String, _ holds: Bool) throws {
    let range = try #require(VersionRange(range))
    #expect(range.contains(Array(version.utf8).span) == holds)
  }

  @Test(arguments: ["", ">=", "5.2 6", ">=5.2,", ",", "=>5", "~5", "^5.2", ">=5.2 <6", "!=5", ">=5.x", "<>5", "5,,6"])
  func theseAreNoRanges(_ text: String) { #expect(VersionRange(text) == nil) }

  /// The order is total: whatever three versions, if one is at most the next and that at most the third, so is the first.
  @Test func theOrderIsTotal() throws {
    var random = SeededGenerator(seed: 11)
    func version() -> String {
      let numbers = (0..<Int.random(in: 1...4, using: &random)).map { _ in "\(Int.random(in: 0...3, using: &random))" }
      let words = ["", "", "-a", "-a.1", "-1", "-10", "-b.a", "-a-", "+x"]
      return numbers.joined(separator: ".") + words[Int.random(in: 0..<words.count, using: &random)]
    }
    for _ in 0..<3_000 {
      let (one, two, three) = (version(), version(), version())
      #expect(try order(one, two) == -order(two, one))
      if try order(one, two) <= 0, try order(two, three) <= 0 {
        #expect(try order(one, three) <= 0, "\(one) \(two) \(three)")
      }
    }
  }
}
