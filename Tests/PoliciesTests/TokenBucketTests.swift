import RandomnessTestSupport
import Testing

@testable import Policies

@Suite struct TokenBucketTests {
  private static let second: Int64 = 1_000_000_000

  @Test func theCheckOfTheTestsFindsWhatIsTooMuch() {
    let fine = Taken(times: [0, 0, 500, 1000])
    #expect(fine.fits(requests: 2, period: 1000, burst: 2))
    #expect(!Taken(times: [0, 0, 499]).fits(requests: 2, period: 1000, burst: 2))
    #expect(!Taken(times: [0, 0, 0]).fits(requests: 2, period: 1000, burst: 2))
    #expect(!Taken(times: [0, 10_000, 10_000, 10_001]).fits(requests: 2, period: 1000, burst: 2))
  }

  @Test func aBurstAndThenOneByOne() {
    let rate = Rate(requests: 2, period: Self.second, burst: 3)
    var bucket = TokenBucket()
    let start: UInt64 = 5_000_000_000
    for _ in 0..<3 { #expect(bucket.take(at: start, rate) == .taken) }
    #expect(bucket.take(at: start, rate) == .refused(wait: 500_000_000))
    #expect(bucket.take(at: start + 499_999_999, rate) == .refused(wait: 1))
    #expect(bucket.take(at: start + 500_000_000, rate) == .taken)
    #expect(bucket.take(at: start + 500_000_001, rate) == .refused(wait: 499_999_999))
  }

  @Test func aPauseFillsTheBucketAndNoMore() {
    let rate = Rate(requests: 1, period: Self.second, burst: 2)
    var bucket = TokenBucket()
    #expect(bucket.take(at: 0, rate) == .taken)
    let later: UInt64 = 1_000_000_000_000
    #expect(bucket.take(at: later, rate) == .taken)
    #expect(bucket.take(at: later, rate) == .taken)
    #expect(bucket.take(at: later, rate) == .refused(wait: 1_000_000_000))
  }

  /// Who asks again after exactly the wait gets a token; a nanosecond before it is still refused.
  @Test(
    arguments: [
      (7, 1_000_000_000, 1), (3, 1_000_000_000, 4), (999_999_937, 1_000_000_007, 2), (1, 1, 1), (5, 3, 2),
    ] as [(Int, Int64, Int)])
  func theWaitIsExact(requests: Int, period: Int64, burst: Int) {
    let rate = Rate(requests: requests, period: period, burst: burst)
    var bucket = TokenBucket()
    var now: UInt64 = 77
    var waits = 0
    for _ in 0..<2000 {
      guard case .refused(let wait) = bucket.take(at: now, rate) else { continue }
      waits += 1
      if wait > 1 {
        var early = bucket
        #expect(early.take(at: now + wait - 1, rate) != .taken)
      }
      now += wait
      #expect(bucket.take(at: now, rate) == .taken)
    }
    #expect(waits > 100)
  }

  /// No rounding: over a long time a greedy caller gets what the rate says, to the last event.
  @Test(arguments: [(7, Int64(1_000_000_000), 2), (3, 1000, 2), (333, 1_000_000, 10)])
  func aGreedyCallerGetsTheWholeRate(requests: Int, period: Int64, burst: Int) {
    let rate = Rate(requests: requests, period: period, burst: burst)
    var bucket = TokenBucket()
    var now: UInt64 = 0
    var taken = 0
    let end = UInt64(period) * 300
    while now < end {
      switch bucket.take(at: now, rate) {
      case .taken: taken += 1
      case .refused(let wait): now += wait
      }
    }
    #expect(taken >= requests * 300 + burst - 1 && taken <= requests * 300 + burst)
  }

  @Test func neverAboveTheRateOverAnyWindow() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<300 {
      let requests = Int.random(in: 1...20, using: &random)
      let period = Int64.random(in: 1...5000, using: &random)
      let burst = Int.random(in: 1...30, using: &random)
      let rate = Rate(requests: requests, period: period, burst: burst)
      var bucket = TokenBucket()
      var taken = Taken()
      var now = UInt64.random(in: 0...1_000_000, using: &random)
      for _ in 0..<400 {
        // The loops' clocks differ: time goes back now and then.
        let seen = now - min(now, UInt64.random(in: 0...3, using: &random))
        if bucket.take(at: seen, rate) == .taken { taken.times.append(now) }
        now += UInt64.random(in: 0...UInt64(period / 2 + 1), using: &random)
      }
      // What a late clock adds: the moment is that of the latest clock, at most 3 before it in the bucket's eyes.
      #expect(taken.fits(requests: requests, period: period, burst: burst + 3 * requests / Int(period) + 1))
    }
  }

  @Test func withOneClockTheBoundIsExact() {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<300 {
      let requests = Int.random(in: 1...20, using: &random)
      let period = Int64.random(in: 1...5000, using: &random)
      let burst = Int.random(in: 1...30, using: &random)
      let rate = Rate(requests: requests, period: period, burst: burst)
      var bucket = TokenBucket()
      var taken = Taken()
      var now: UInt64 = 0
      for _ in 0..<400 {
        if bucket.take(at: now, rate) == .taken { taken.times.append(now) }
        now += UInt64.random(in: 0...UInt64(period / 2 + 1), using: &random)
      }
      #expect(taken.times.count >= burst)
      #expect(taken.fits(requests: requests, period: period, burst: burst))
    }
  }

  @Test func extremesDoNotTrap() {
    let day: Int64 = 86_400_000_000_000
    for rate in [
      Rate(requests: 1, period: 366 * day, burst: 1_000_000_000), Rate(requests: 1_000_000_000, period: 1, burst: 1),
      Rate(requests: 0, period: 0, burst: 0), Rate(requests: .max, period: .max, burst: .max),
    ] {
      var bucket = TokenBucket()
      for now in [0, 1, 1 << 40, 1 << 61] as [UInt64] { _ = bucket.take(at: now, rate) }
      #expect(bucket.fullAt >= 1 << 61)
    }
  }
}
