import RandomnessTestSupport
import Testing

@testable import Policies

@Suite struct BalancerTests {
  private func balancer(_ weights: [Int], first: Int = 0) -> Balancer {
    var balancer = Balancer(first: first)
    balancer.replace(weights.enumerated().map { Balancer.Candidate(weight: $1, seed: StableHash("e\($0)").value) })
    return balancer
  }

  private func counts(_ count: Int, _ rounds: Int, _ choose: () -> Int?) throws -> [Int] {
    var counts = [Int](repeating: 0, count: count)
    for _ in 0..<rounds { counts[try #require(choose())] += 1 }
    return counts
  }

  // MARK: In turn

  @Test func inTurnEachGetsAsManyAsTheOthers() throws {
    var balancer = balancer([1, 1, 1])
    #expect(try counts(3, 300) { balancer.inTurn() } == [100, 100, 100])
  }

  @Test func aWeightIsAShareAndItIsSpread() throws {
    var balancer = balancer([5, 1, 1])
    var row = 0
    var longest = 0
    let counts = try counts(3, 700) {
      let chosen = balancer.inTurn()
      row = chosen == 0 ? row + 1 : 0
      longest = max(longest, row)
      return chosen
    }
    #expect(counts == [500, 100, 100])
    // The heavy one never gets all of its five in a row.
    #expect(longest <= 4)
  }

  @Test(arguments: [[1, 1, 1], [3, 1, 2], [1, 1]]) func whatHasFailedIsAvoided(weights: [Int]) throws {
    var balancer = balancer(weights)
    for round in 0..<60 {
      let avoided = round % weights.count
      #expect(balancer.inTurn(avoiding: avoided) != avoided)
      #expect(balancer.leastLoaded(avoiding: avoided) { _ in 0 } != avoided)
      #expect(balancer.byKey(UInt64(round), avoiding: avoided) != avoided)
    }
  }

  @Test func anOnlyOneIsChosenAlthoughItIsAvoided() {
    var balancer = balancer([2])
    #expect(balancer.inTurn(avoiding: 0) == 0)
    #expect(balancer.leastLoaded(avoiding: 0) { _ in 9 } == 0)
    #expect(balancer.byKey(7, avoiding: 0) == 0)
  }

  @Test func withoutCandidatesThereIsNoChoice() {
    var balancer = balancer([])
    #expect(balancer.inTurn() == nil)
    #expect(balancer.leastLoaded { _ in 0 } == nil)
    #expect(balancer.byKey(1) == nil)
  }

  // MARK: By load

  @Test func theLessLoadedOfTwoIsTaken() throws {
    var balancer = balancer([1, 1])
    let loads = [5, 2]
    #expect(try counts(2, 100) { balancer.leastLoaded { loads[$0] } } == [0, 100])
  }

  @Test func loadStaysEvenAndFollowsTheWeights() throws {
    for weights in [[1, 1, 1, 1], [4, 2, 1, 1]] {
      var balancer = balancer(weights)
      var loads = [Int](repeating: 0, count: 4)
      // Nothing ends: what is under way is what was given.
      for _ in 0..<800 {
        let chosen = try #require(balancer.leastLoaded { loads[$0] })
        loads[chosen] += 1
      }
      let total = weights.reduce(0, +)
      for (load, weight) in zip(loads, weights) {
        let distance = abs(load - 800 * weight / total)
        #expect(distance <= 60, "\(loads)")
      }
    }
  }

  // MARK: By key

  private static let keys = (0..<20_000).map { StableHash("user-\($0)").value }

  @Test func keysAreSpreadByWeight() throws {
    for weights in [[1, 1, 1, 1, 1], [1, 2, 3, 4]] {
      let balancer = balancer(weights)
      var counts = [Int](repeating: 0, count: weights.count)
      for key in Self.keys { counts[try #require(balancer.byKey(key))] += 1 }
      let total = weights.reduce(0, +)
      for (count, weight) in zip(counts, weights) {
        let share = Double(weight) / Double(total) * 20_000
        let distance = abs(Double(count) - share)
        #expect(distance < share * 0.08, "\(counts)")
      }
    }
  }

  /// Whoever leaves takes its keys along, and no other key moves; whoever comes takes its share, and no key moves
  /// between the others.
  @Test(arguments: 1...20) func fewestKeysMove(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let all = (0..<Int.random(in: 2...12, using: &random)).map { _ in
      Balancer.Candidate(weight: .random(in: 1...3, using: &random), seed: random.next())
    }
    let gone = Int.random(in: 0..<all.count, using: &random)
    var whole = Balancer(first: 0)
    var rest = Balancer(first: 5)
    whole.replace(all)
    rest.replace(all.enumerated().filter { $0.offset != gone }.map(\.element))
    for key in Self.keys.prefix(3000) {
      let before = try #require(whole.byKey(key))
      let after = try #require(rest.byKey(key))
      if before != gone { #expect(after == (before > gone ? before - 1 : before)) }
    }
  }

  @Test func theHashIsTheSameInEveryProcess() {
    #expect(StableHash("").value == StableHash.mix(0xCBF2_9CE4_8422_2325))
    #expect(StableHash("a").value == StableHash.mix(0xAF63_DC4C_8601_EC8C))
    #expect(StableHash("foobar").value == StableHash.mix(0x8594_4171_F739_67E8))
  }
}

@Suite struct CandidatesTests {
  private func member(_ priority: Int = 0, local: Bool = false, usable: Bool = true) -> Candidates.Member {
    Candidates.Member(priority: priority, isLocal: local, isUsable: usable)
  }

  @Test func whatCannotBeUsedIsLeftOut() {
    #expect(Candidates.choose([member(), member(usable: false), member()], threshold: 1000) == [0, 2])
  }

  @Test func withTooFewAllOfTheFirstPriorityAreUsed() {
    let members = [member(usable: false), member(usable: false), member(1, usable: false)]
    #expect(Candidates.choose(members, threshold: 0) == [0, 1])
    let few = [member(), member(usable: false), member(usable: false)]
    #expect(Candidates.choose(few, threshold: 5000) == [0, 1, 2])
    #expect(Candidates.choose(few, threshold: 3000) == [0])
    #expect(Candidates.choose([], threshold: 1000) == [])
  }

  @Test func theNextPriorityServesWhenNoneOfTheFirstCan() {
    #expect(Candidates.choose([member(10), member(20), member(10)], threshold: 1000) == [0, 2])
    #expect(Candidates.choose([member(10, usable: false), member(20)], threshold: 1000) == [1])
  }

  @Test func theOwnZoneIsPreferredWhileHalfOfItCanBeUsed() {
    let near = member(local: true)
    let down = member(local: true, usable: false)
    #expect(Candidates.choose([near, member(), near, member()], threshold: 1000) == [0, 2])
    #expect(Candidates.choose([near, member(), down], threshold: 1000) == [0])
    #expect(Candidates.choose([near, down, down, member()], threshold: 1000) == [0, 3])
    #expect(Candidates.choose([down, member()], threshold: 1000) == [1])
  }
}
