import Dispatch
import RandomnessTestSupport
import Synchronization
import Testing

@testable import Policies

@Suite struct RateLimitSetTests {
  private static let second: Int64 = 1_000_000_000

  private static func limiter(_ requests: Int, _ period: Int64, _ burst: Int, _ keys: Int = 1000) -> RateLimiter {
    RateLimiter(rate: Rate(requests: requests, period: period, burst: burst), maximumKeys: keys)
  }

  @Test func whatOneRefusesCostsNothingInTheOthers() {
    let set = RateLimitSet([
      Self.limiter(3, Self.second, 3), Self.limiter(1, Self.second, 1), Self.limiter(9, Self.second, 9),
    ])
    func take(_ user: UInt64) -> RateLimitSet.Decision {
      set.take(cost: 1, at: 0) { $0 == 1 ? user : 0 }
    }
    #expect(take(1) == .taken)
    for _ in 0..<20 { #expect(take(1) == .refused(limit: 1, wait: UInt64(Self.second))) }
    // Two are left of the first limit, as after one call.
    #expect(set.limiters[0].standing(0, at: 0).remaining == 2 && set.limiters[2].standing(0, at: 0).remaining == 8)
    #expect(take(2) == .taken && take(3) == .taken)
    #expect(take(4) == .refused(limit: 0, wait: UInt64(Self.second) / 3 + 1))
    #expect(set.limiters[1].standing(4, at: 0).remaining == 1)
  }

  @Test func theLongestWaitIsTold() {
    let set = RateLimitSet([Self.limiter(1, 100, 1), Self.limiter(1, 900, 1), Self.limiter(1, 500, 1)])
    #expect(set.take(cost: 1, at: 0) { _ in 0 } == .taken)
    #expect(set.take(cost: 1, at: 0) { _ in 0 } == .refused(limit: 1, wait: 900))
    #expect(set.take(cost: 1, at: 700) { _ in 0 } == .refused(limit: 1, wait: 200))
  }

  /// As after a reload that lists the same limits the other way round, while both configurations serve.
  @Test func setsOfTheSameLimitsInAnotherOrderNeverWaitForEachOther() {
    let limits = (0..<3).map { Self.limiter(1_000_000, Self.second, 100_000 + $0) }
    let sets = [limits, limits.reversed(), [limits[1], limits[2], limits[0]]].map { RateLimitSet($0) }
    let taken = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      for _ in 0..<10_000 where sets[thread % sets.count].take(cost: 1, at: 0, key: { _ in 7 }) == .taken {
        taken.add(1, ordering: .relaxed)
      }
    }
    #expect(taken.load(ordering: .relaxed) == 60_000)
    #expect(limits.map { $0.standing(7, at: 0).remaining } == [40_000, 40_001, 40_002])
  }

  /// The first of the set, wherever it is in memory.
  @Test func ofEqualWaitsTheFirstIsTold() {
    for _ in 0..<20 {
      let limits = [Self.limiter(1, 500, 1), Self.limiter(1, 500, 1)]
      for set in [RateLimitSet(limits), RateLimitSet(limits.reversed())] {
        _ = set.take(cost: 1, at: 0) { _ in 0 }
        #expect(set.take(cost: 1, at: 0) { _ in 0 } == .refused(limit: 0, wait: 500))
      }
    }
  }

  @Test func aDearCallTakesMore() {
    let set = RateLimitSet([Self.limiter(10, Self.second, 10)])
    let limiter = set.limiters[0]
    #expect(set.take(cost: 4, at: 0) { _ in 0 } == .taken)
    #expect(limiter.standing(0, at: 0) == RateStanding(remaining: 6, fullIn: 400_000_000))
    #expect(set.take(cost: 7, at: 0) { _ in 0 } == .refused(limit: 0, wait: 100_000_000))
    #expect(set.take(cost: 6, at: 0) { _ in 0 } == .taken)
    #expect(set.take(cost: 0, at: 0) { _ in 0 } == .taken)
    #expect(limiter.standing(0, at: 0).remaining == 0)
    // More than a bucket holds takes a whole one.
    #expect(set.take(cost: 1000, at: UInt64(Self.second)) { _ in 0 } == .taken)
    #expect(limiter.standing(0, at: UInt64(Self.second)).remaining == 0)
  }

  /// A cost is so many single calls, to the last nanosecond and its parts.
  @Test func aCostIsSoManyCalls() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      let rate = Rate(
        requests: .random(in: 1...50, using: &random), period: .random(in: 1...9999, using: &random),
        burst: .random(in: 1...40, using: &random))
      var (one, many) = (TokenBucket(), TokenBucket())
      var now: UInt64 = 0
      for _ in 0..<60 {
        let cost = Int.random(in: 1...rate.burst, using: &random)
        let outcome = many.take(at: now, rate, cost: cost)
        var trial = one
        let all = (0..<cost).allSatisfy { _ in trial.take(at: now, rate) == .taken }
        #expect((outcome == .taken) == all)
        if all { one = trial }
        #expect(one == many)
        #expect(one.standing(at: now, rate).remaining == left(one, now, rate))
        now += .random(in: 0...UInt64(rate.period), using: &random)
      }
    }
  }

  private func left(_ bucket: TokenBucket, _ now: UInt64, _ rate: Rate) -> Int {
    var bucket = bucket
    var count = 0
    while count <= rate.burst, bucket.take(at: now, rate) == .taken { count += 1 }
    return count
  }

  /// Every limit holds over any window whatever the others say, and nobody is refused who fits in all.
  @Test func allHoldAtOnce() {
    var random = SeededGenerator(seed: 12)
    for _ in 0..<60 {
      let rates = (0..<Int.random(in: 2...4, using: &random)).map { _ in
        Rate(
          requests: .random(in: 1...9, using: &random), period: .random(in: 1...4000, using: &random),
          burst: .random(in: 1...8, using: &random))
      }
      let set = RateLimitSet(rates.map { RateLimiter(rate: $0, maximumKeys: 100) })
      var model: [[UInt64: TokenBucket]] = rates.map { _ in [:] }
      var taken: [[UInt64: Taken]] = rates.map { _ in [:] }
      var now: UInt64 = 0
      for _ in 0..<800 {
        let keys = rates.map { _ in UInt64.random(in: 0...3, using: &random) }
        let decision = set.take(cost: 1, at: now) { keys[$0] }
        let fits = rates.indices.allSatisfy { index in
          var bucket = model[index][keys[index], default: TokenBucket()]
          return bucket.take(at: now, rates[index]) == .taken
        }
        #expect((decision == .taken) == fits)
        if fits {
          for index in rates.indices {
            _ = model[index][keys[index], default: TokenBucket()].take(at: now, rates[index])
            taken[index][keys[index], default: Taken()].times.append(now)
          }
        }
        now += .random(in: 0...400, using: &random)
      }
      for (rate, keys) in zip(rates, taken) {
        for times in keys.values {
          #expect(times.fits(requests: rate.requests, period: rate.period, burst: rate.burst))
        }
      }
    }
  }

  /// A greedy caller takes nothing from a modest one of the same limits.
  @Test func callersAreFairToEachOther() {
    let set = RateLimitSet([Self.limiter(10, Self.second, 2), Self.limiter(600, 60 * Self.second, 40)])
    var modest = 0
    for millisecond in 0..<10_000 {
      let now = UInt64(millisecond) * 1_000_000
      _ = set.take(cost: 1, at: now) { _ in 1 }
      if millisecond % 100 == 50, set.take(cost: 1, at: now, key: { _ in 2 }) == .taken { modest += 1 }
    }
    #expect(modest == 100)
  }

  @Test func aFullTableIsAskedAsItWillAnswer() {
    let set = RateLimitSet([Self.limiter(1, 1000, 1, 3), Self.limiter(1000, 1000, 1000, 3)])
    var accepted = 0
    for key in 0..<500 as Range<UInt64> where set.take(cost: 1, at: 0, key: { _ in key }) == .taken { accepted += 1 }
    #expect(accepted == 3)
    #expect(set.limiters[1].count == 3)
  }

  @Test func threadsTogetherGetNoMoreThanOne() {
    let set = RateLimitSet([
      Self.limiter(1, 1 << 50, 700, 10_000), Self.limiter(1, 1 << 50, 500, 10_000),
      Self.limiter(1, 1 << 50, 900, 10_000),
    ])
    let taken = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<1000 {
        // Every thread meets the others in another limit.
        let decision = set.take(cost: 1, at: 5) { $0 == thread % 3 ? UInt64(number) << 40 : 7 << 40 }
        if decision == .taken { taken.add(1, ordering: .relaxed) }
      }
    }
    #expect(taken.load(ordering: .relaxed) <= 1400)
    #expect(set.limiters.map { $0.standing(7 << 40, at: 5).remaining }.allSatisfy { $0 >= 0 })
  }
}

@Suite struct ConcurrencyLimiterTests {
  @Test func soManyAndNoMore() {
    let limiter = ConcurrencyLimiter(limit: 2)
    #expect(limiter.enter(1) && limiter.enter(1) && !limiter.enter(1))
    #expect(limiter.enter(2))
    limiter.leave(1)
    #expect(limiter.enter(1) && !limiter.enter(1))
    #expect(limiter.count == 3)
    for key: UInt64 in [1, 1, 2] { limiter.leave(key) }
    #expect(limiter.count == 0)
  }

  @Test func threadsNeverExceedIt() {
    let limiter = ConcurrencyLimiter(limit: 3)
    let running = Atomic(0)
    let worst = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<2000 where limiter.enter(9) {
        let now = running.add(1, ordering: .sequentiallyConsistent).newValue
        worst.max(now, ordering: .sequentiallyConsistent)
        running.subtract(1, ordering: .sequentiallyConsistent)
        limiter.leave(9)
      }
    }
    #expect((1...3).contains(worst.load(ordering: .relaxed)))
    #expect(limiter.count == 0)
  }

  @Test func anUnchangedLimitGoesOnCounting() {
    let registry = ConcurrencyRegistry()
    let identity = ConcurrencyRegistry.Identity(scope: "", limit: 1, key: "none", number: 0)
    let first = registry.limiter(for: identity)
    #expect(first.enter(0) && !registry.limiter(for: identity).enter(0))
    var other = identity
    other.number = 1
    #expect(registry.limiter(for: other).enter(0))
  }
}
