import RandomnessTestSupport
import Testing

@testable import Policies

@Suite struct RetryBudgetTests {
  @Test func theShareOfTheRequestsOfAllLoopsIsAllowed() {
    let budget = RetryBudget(shards: 3)
    for index in 0..<100 { budget.countRequest(at: 50, shard: index % 3) }
    let taken = (0..<50).filter { _ in budget.take(at: 50, share: 2000, minimum: 0) }.count
    #expect(taken == 20)
  }

  @Test func aFewAreAllowedInAnyCase() {
    let budget = RetryBudget(shards: 1)
    #expect((0..<99).filter { _ in budget.take(at: 7, share: 2000, minimum: 3) }.count == 30)
    #expect(!budget.take(at: 16, share: 2000, minimum: 3))
    #expect(budget.take(at: 17, share: 2000, minimum: 3))
    #expect(!RetryBudget(shards: 1).take(at: 0, share: 10_000, minimum: 0))
  }

  @Test func whatIsLongPastDoesNotCount() {
    let budget = RetryBudget(shards: 1)
    for _ in 0..<1000 { budget.countRequest(at: 100, shard: 0) }
    #expect(budget.take(at: 109, share: 100, minimum: 0))
    #expect(!budget.take(at: 110, share: 100, minimum: 0))
  }

  /// A retry is made only where the ten seconds before it allow one more, whatever the order.
  @Test(arguments: 1...10) func neverMoreThanTheShareOfTheWindow(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let budget = RetryBudget(shards: 2)
    var requests = [Int](repeating: 0, count: 200)
    var retries = [Int](repeating: 0, count: 200)
    for second in 0..<200 {
      let window = max(0, second - 9)...second
      for _ in 0..<Int.random(in: 0..<40, using: &random) {
        let made: Int = retries[window].reduce(0, +)
        let allowed: Int = requests[window].reduce(0, +) / 4 + 10
        if Bool.random(using: &random) {
          budget.countRequest(at: UInt64(second), shard: Int.random(in: 0..<2, using: &random))
          requests[second] += 1
        } else {
          let isTaken = budget.take(at: UInt64(second), share: 2500, minimum: 1)
          #expect(isTaken == (made < allowed))
          if isTaken { retries[second] += 1 }
        }
      }
    }
    #expect(retries.reduce(0, +) > 100)
  }
}

@Suite struct BackoffTests {
  private let backoff = Backoff(base: 100, longest: 450)

  @Test func theBoundDoublesUpToTheLongest() {
    #expect((1...5).map { backoff.bound($0) } == [100, 200, 400, 450, 450])
    #expect(backoff.bound(64) == 450)
    #expect(Backoff(base: 1 << 62, longest: .max).bound(60) == .max)
  }

  @Test func aPauseIsAnyPartOfIt() {
    #expect(backoff.pause(2, random: 0) == 0)
    #expect(backoff.pause(2, random: .max) == 199)
    #expect(backoff.pause(2, random: 1 << 63) == 100)
    #expect(Backoff(base: 0, longest: 0).pause(3, random: .max) == 0)
  }

  private func choose(asked: UInt64? = nil, left: UInt64? = nil) -> UInt64? {
    RetryPause.choose(backoff, retry: 1, asked: asked, longest: 1000, left: left, random: 1 << 63)
  }

  @Test func whatTheUpstreamAsksForIsWaitedForUpToABound() {
    #expect(choose() == 50)
    #expect(choose(asked: 20) == 50)
    #expect(choose(asked: 1000) == 1000)
    #expect(choose(asked: 1001) == nil)
  }

  @Test func noTryBeginsWhenTheDeadlineHasPassed() {
    #expect(choose(left: 51) == 50)
    #expect(choose(left: 50) == nil)
    #expect(choose(asked: 500, left: 400) == nil)
  }
}

@Suite struct QuotaTests {
  @Test func placesAreTakenAndGivenBack() {
    let quota = Quota()
    let taken: [Bool] = (0..<3).map { _ in quota.take(limit: 2) }
    #expect(taken == [true, true, false])
    #expect(quota.count == 2)
    quota.giveBack()
    #expect(quota.take(limit: 2))
    // A reload may lower the limit: who is in stays in.
    #expect(!quota.take(limit: 1))
    quota.takeAnyway()
    #expect(quota.count == 3)
  }
}
