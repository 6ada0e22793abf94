import RandomnessTestSupport
import Testing

@testable import Policies

@Suite struct BucketTableTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func keysDoNotTakeFromEachOther() {
    let rate = Rate(requests: 10, period: 1_000_000_000, burst: 2)
    var table = BucketTable(capacity: 100)
    var greedy = 0
    var modest = 0
    // The greedy one asks every millisecond, the modest one every 100, which is its rate.
    for millisecond in 0..<10_000 {
      let now = UInt64(millisecond) * 1_000_000
      if table.take(1, at: now, rate) == .taken { greedy += 1 }
      if millisecond % 100 == 50, table.take(2, at: now, rate) == .taken { modest += 1 }
    }
    #expect(modest == 100)
    #expect((100...102).contains(greedy))
  }

  @Test func aFullTableForgetsWhoeverOwesNothing() {
    let rate = Rate(requests: 1, period: 1000, burst: 1)
    var table = BucketTable(capacity: 3)
    for key in 1...3 as ClosedRange<UInt64> { #expect(table.take(key, at: key, rate) == .taken) }
    // The first is full again at 1001.
    #expect(table.take(4, at: 1001, rate) == .taken)
    #expect(table.count == 3)
    #expect(table.take(2, at: 1001, rate) == .refused(wait: 1))
    #expect(table.take(3, at: 1001, rate) == .refused(wait: 2))
  }

  @Test func aHotKeyIsNotForgivenByMakingKeysUp() {
    let rate = Rate(requests: 1, period: 60_000_000_000, burst: 5)
    var table = BucketTable(capacity: 50)
    for _ in 0..<5 { #expect(table.take(7, at: 0, rate) == .taken) }
    #expect(table.take(7, at: 0, rate) != .taken)
    var accepted = 0
    for key in 1000..<3000 as Range<UInt64> where table.take(key, at: 1, rate) == .taken { accepted += 1 }
    // Each stranger inherits what is owed; when all owe a burst nobody is taken any more.
    #expect(accepted <= 50 * 5)
    #expect(table.take(7, at: 2, rate) != .taken)
    #expect(table.count == 50)
  }

  /// The guarantee of the whole table, full or not, whatever the keys do.
  @Test(arguments: [1, 2, 8, 1000])
  func noKeyIsEverAboveTheRateOverAnyWindow(capacity: Int) {
    var random = SeededGenerator(seed: UInt64(capacity))
    for _ in 0..<40 {
      let requests = Int.random(in: 1...9, using: &random)
      let period = Int64.random(in: 1...3000, using: &random)
      let burst = Int.random(in: 1...6, using: &random)
      let rate = Rate(requests: requests, period: period, burst: burst)
      var table = BucketTable(capacity: capacity)
      var taken: [UInt64: Taken] = [:]
      var now: UInt64 = 0
      for _ in 0..<1500 {
        // Few hot keys among many cold ones.
        let key =
          Bool.random(using: &random)
          ? UInt64.random(in: 0...2, using: &random) : UInt64.random(in: 3...40, using: &random)
        if table.take(key, at: now, rate) == .taken { taken[key, default: Taken()].times.append(now) }
        now += UInt64.random(in: 0...UInt64(period / 8 + 1), using: &random)
      }
      #expect(table.count <= capacity)
      #expect(!taken.isEmpty)
      for times in taken.values { #expect(times.fits(requests: requests, period: period, burst: burst)) }
    }
  }

  /// As long as the keys fit, a table is the same as a bucket for each of them.
  @Test func aTableWithRoomIsExact() {
    var random = SeededGenerator(seed: 5)
    let rate = Rate(requests: 3, period: 1000, burst: 4)
    var table = BucketTable(capacity: 20)
    var buckets: [UInt64: TokenBucket] = [:]
    var now: UInt64 = 0
    for _ in 0..<5000 {
      let key = UInt64.random(in: 0..<20, using: &random)
      #expect(table.take(key, at: now, rate) == buckets[key, default: TokenBucket()].take(at: now, rate))
      now += UInt64.random(in: 0...60, using: &random)
    }
  }

  @Test func onlyTheLeastIsPutOut() {
    let rate = Rate(requests: 1, period: 1000, burst: 10)
    var table = BucketTable(capacity: 2)
    for _ in 0..<9 { _ = table.take(1, at: 0, rate) }
    _ = table.take(2, at: 0, rate)
    // In place of key 2, with its debt of one.
    #expect(table.take(3, at: 0, rate) == .taken)
    // The hot one is still there: one token is left to it and no more.
    #expect(table.take(1, at: 0, rate) == .taken)
    #expect(table.take(1, at: 0, rate) != .taken)
  }
}
