import Dispatch
import RandomnessTestSupport
import Synchronization
import Testing

@testable import Policies

@Suite struct RateLimiterTests {
  private static let rate = Rate(requests: 5, period: 1_000_000_000, burst: 5)

  private static func identity(_ scope: String = "", key: String = "client", number: Int = 0)
    -> RateLimiterRegistry.Identity
  {
    .init(scope: scope, rate: rate, key: key, maximumKeys: 10, number: number)
  }

  @Test func manyThreadsTogetherGetNoMoreThanOne() {
    let limiter = RateLimiter(rate: Rate(requests: 1, period: 1_000_000_000_000, burst: 1000), maximumKeys: 10_000)
    let taken = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for key in 0..<2000 where limiter.take(UInt64(key % 2) << 40, at: 5) == .taken {
        taken.add(1, ordering: .relaxed)
      }
    }
    #expect(taken.load(ordering: .relaxed) == 2000)
    #expect(limiter.count == 2)
  }

  @Test func allShardsTogetherKeepTheBound() {
    let limiter = RateLimiter(rate: Self.rate, maximumKeys: 5000)
    var random = SeededGenerator(seed: 3)
    for _ in 0..<20_000 { _ = limiter.take(random.next(), at: 0) }
    #expect(limiter.count <= 5000)
    #expect(limiter.count > 4000)
  }

  @Test func anUnchangedLimitIsTheSameOne() {
    let registry = RateLimiterRegistry()
    let first = registry.limiter(for: Self.identity())
    for _ in 0..<5 { #expect(first.take(1, at: 0) == .taken) }
    let second = registry.limiter(for: Self.identity())
    #expect(first === second)
    #expect(second.take(1, at: 0) != .taken)
  }

  @Test func otherLimitsAreOthers() {
    let registry = RateLimiterRegistry()
    let limiters = [
      Self.identity(), Self.identity("a.v1.Alpha"), Self.identity(key: "route"), Self.identity(number: 1),
    ].map { registry.limiter(for: $0) }
    #expect(Set(limiters.map { ObjectIdentifier($0) }).count == 4)
    #expect(registry.count == 4)
  }

  @Test func whatNoPlanUsesIsLetGo() {
    let registry = RateLimiterRegistry()
    do {
      let limiter = registry.limiter(for: Self.identity())
      #expect(limiter.take(1, at: 0) == .taken)
      #expect(registry.count == 1)
    }
    #expect(registry.count == 0)
  }
}
