import RandomnessTestSupport
import Testing

@testable import Policies

@Suite struct EjectionTests {
  private let second: UInt64 = 1_000_000_000
  private let rules = EjectionRules(
    consecutiveFailures: 3, base: 10_000_000_000, longest: 35_000_000_000, mostEjected: 5000)

  private func fail(_ endpoint: EndpointHealth, _ times: Int, at now: UInt64) -> [Bool] {
    (0..<times).map { _ in endpoint.failed("status 503", at: now, rules) }
  }

  private func group(_ count: Int) -> (group: EndpointGroup, endpoints: [EndpointHealth]) {
    let group = EndpointGroup(shards: 2)
    return (group, (0..<count).map { group.join("e\($0)") })
  }

  @Test func failuresInARowLeaveAnEndpointOut() {
    let (group, endpoints) = group(2)
    let version = group.version
    #expect(fail(endpoints[0], 3, at: 100) == [false, false, true])
    #expect(!endpoints[0].isUsable(at: 100))
    #expect(endpoints[0].state(at: 100) == .ejected)
    #expect(endpoints[0].lastError == "status 503")
    #expect(endpoints[1].isUsable(at: 100))
    #expect(group.version > version)
    #expect(endpoints[0].isUsable(at: 100 + 10 * second))
  }

  @Test func aSuccessBeginsTheRowAnew() {
    let (group, endpoints) = group(2)
    #expect(fail(endpoints[0], 2, at: 0) == [false, false])
    endpoints[0].succeeded()
    #expect(fail(endpoints[0], 2, at: 0) == [false, false])
    #expect(endpoints[0].isUsable(at: 0))
    withExtendedLifetime(group) {}
  }

  @Test func eachTimeInARowLastsTwiceAsLongUpToABound() {
    let (group, endpoints) = group(2)
    var now: UInt64 = 1
    for seconds: UInt64 in [10, 20, 35, 35] {
      #expect(fail(endpoints[0], 3, at: now).last == true)
      #expect(!endpoints[0].isUsable(at: now + seconds * second - 1))
      now += seconds * second
      #expect(endpoints[0].isUsable(at: now))
    }
    // It did well for longer than it was out: the next time is the first one again.
    now += 36 * second
    #expect(fail(endpoints[0], 3, at: now).last == true)
    #expect(endpoints[0].isUsable(at: now + 10 * second))
    withExtendedLifetime(group) {}
  }

  @Test func anOnlyEndpointIsNeverLeftOut() {
    let (group, endpoints) = group(1)
    #expect(!fail(endpoints[0], 30, at: 5).contains(true))
    withExtendedLifetime(group) {}
  }

  @Test func someAreAlwaysLeft() {
    let (group, endpoints) = group(4)
    for endpoint in endpoints { _ = fail(endpoint, 3, at: 5) }
    #expect(endpoints.filter { $0.isUsable(at: 5) }.count == 2)
    withExtendedLifetime(group) {}
  }

  @Test(arguments: [(0, 5, 0), (100, 5, 1), (5000, 2, 1), (5000, 3, 1), (5000, 5, 2), (10_000, 3, 2), (10_000, 1, 0)])
  func theShareIsAFloor(share: Int, total: Int, allowed: Int) {
    var rules = rules
    rules.mostEjected = share
    let counts = (1...total).filter { rules.allows(ejected: $0, of: total) }
    #expect(counts.count == allowed)
  }

  @Test func whatCannotBeReachedIsLeftAloneForLongerEachTime() {
    let (group, endpoints) = group(2)
    var now: UInt64 = 0
    for seconds: UInt64 in [1, 2, 4, 8, 16, 30, 30] {
      endpoints[0].connectFailed("refused", at: now)
      #expect(endpoints[0].state(at: now) == .unreachable)
      // A second failure of the same moment adds nothing.
      endpoints[0].connectFailed("refused", at: now)
      now += seconds * second
      #expect(endpoints[0].isUsable(at: now))
      #expect(!endpoints[0].isUsable(at: now - 1))
    }
    endpoints[0].connectFailed("refused", at: now)
    endpoints[0].connected()
    #expect(endpoints[0].isUsable(at: now))
    withExtendedLifetime(group) {}
  }

  @Test func checksDecideUntilTheySayOtherwise() {
    let (group, endpoints) = group(2)
    endpoints[0].set(isHealthy: false, "status 500")
    #expect(endpoints[0].state(at: .max - 1) == .unhealthy)
    #expect(endpoints[0].lastError == "status 500")
    endpoints[0].set(isHealthy: true)
    #expect(endpoints[0].state(at: 0) == .healthy)
    withExtendedLifetime(group) {}
  }

  @Test func anEndpointIsKnownForAsLongAsSomebodyUsesIt() {
    let (group, endpoints) = group(1)
    #expect(fail(endpoints[0], 2, at: 0) == [false, false])
    let again = group.join("e0")
    #expect(again === endpoints[0])
    group.leave(again)
    #expect(group.all.count == 1)
    group.leave(endpoints[0])
    #expect(group.all.isEmpty)
    #expect(group.join("e0") !== endpoints[0])
  }

  @Test func requestsOfAllLoopsAreCounted() {
    let (group, endpoints) = group(1)
    endpoints[0].count(1, shard: 0)
    endpoints[0].count(1, shard: 1)
    endpoints[0].count(1, shard: 1)
    endpoints[0].count(-1, shard: 0)
    #expect(endpoints[0].inFlight == 2)
    withExtendedLifetime(group) {}
  }

  /// Whatever happens, no more than the share is out, and who is out comes back.
  @Test(arguments: 1...20) func theFloorHoldsInAnyOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (group, endpoints) = group(Int.random(in: 2...9, using: &random))
    var now: UInt64 = 0
    for _ in 0..<2000 {
      now += UInt64.random(in: 0..<second, using: &random)
      let endpoint = endpoints[Int.random(in: 0..<endpoints.count, using: &random)]
      if Int.random(in: 0..<4, using: &random) == 0 {
        endpoint.succeeded()
      } else {
        _ = endpoint.failed("no", at: now, rules)
      }
      let out = endpoints.filter { !$0.isUsable(at: now) }.count
      #expect(out <= max(1, endpoints.count / 2))
    }
    #expect(endpoints.allSatisfy { $0.isUsable(at: now + 36 * second) })
    withExtendedLifetime(group) {}
  }
}

@Suite struct HealthStreakTests {
  private func run(_ checks: String, healthy: Int = 2, unhealthy: Int = 3) -> String {
    var streak = HealthStreak()
    return String(
      checks.map { check in
        switch streak.observe(check == "+", healthy: healthy, unhealthy: unhealthy) {
        case true: "U"
        case false: "D"
        case nil: "."
        }
      })
  }

  @Test func theFirstGoodCheckIsEnoughLaterOnesAreCounted() {
    #expect(run("++--+---+-++") == "U......D...U")
    #expect(run("---+++") == "..D.U.")
    #expect(run("+-", healthy: 1, unhealthy: 1) == "UD")
  }
}
