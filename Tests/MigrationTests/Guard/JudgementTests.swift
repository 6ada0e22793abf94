import Configuration
import RandomnessTestSupport
import Testing

@testable import Migration

@Suite struct JudgementTests {
  private func counts(
    _ requests: UInt64, failures: UInt64 = 0, clientErrors: UInt64 = 0, milliseconds: UInt64 = 5
  ) -> SideCounts {
    var counts = SideCounts()
    (counts.requests, counts.failures, counts.clientErrors) = (requests, failures, clientErrors)
    counts.latencies[LatencyBuckets.bucket(of: milliseconds * 1_000_000)] = UInt32(requests)
    return counts
  }

  private func limit(_ settings: RouteSettings.Guard, _ rpc: SideCounts, _ rest: SideCounts) -> GuardJudgement.Limit? {
    if case .exceeded(let limit, _) = GuardJudgement(settings, rpc: rpc, rest: rest) { limit } else { nil }
  }

  private var settings: RouteSettings.Guard {
    var settings = RouteSettings.Guard(minimumRequests: 20)
    settings.maximumErrorRate = 500
    return settings
  }

  @Test func aRateNeedsItsMinimum() {
    #expect(GuardJudgement(settings, rpc: counts(19, failures: 19), rest: counts(0)) == .waiting(seen: 19, of: 20))
    #expect(limit(settings, counts(20, failures: 2), counts(0)) == .errorRate)
    // Exactly the limit is none too much.
    #expect(GuardJudgement(settings, rpc: counts(20, failures: 1), rest: counts(0)) == .content)
  }

  @Test func theReasonSaysWhat() {
    let judgement = GuardJudgement(settings, rpc: counts(40, failures: 20), rest: counts(0))
    #expect(judgement == .exceeded(.errorRate, "50% of 40 calls failed on the rpc side, more than 5%"))
  }

  @Test func aRatioComparesWithTheOtherSide() {
    var settings = RouteSettings.Guard(minimumRequests: 20)
    settings.maximumErrorRateRatio = 200
    #expect(limit(settings, counts(100, failures: 40), counts(100, failures: 5)) == .errorRateRatio)
    #expect(limit(settings, counts(100, failures: 40), counts(100, failures: 35)) == nil)
    #expect(limit(settings, counts(100, clientErrors: 60), counts(100, clientErrors: 3)) == .clientErrorRatio)
    #expect(limit(settings, counts(100, clientErrors: 60), counts(100, clientErrors: 50)) == nil)
    // Without the other side there is nothing to compare with.
    #expect(limit(settings, counts(100, failures: 100), counts(19)) == nil)
  }

  /// Whatever the other side did, one failure or two do nothing.
  @Test func aFailureOrTwoAreChance() {
    var settings = RouteSettings.Guard(minimumRequests: 1)
    settings.maximumErrorRateRatio = 100
    for requests in [1, 2, 20, 1_000] as [UInt64] {
      for others in [1, 20, 1_000_000] as [UInt64] {
        for failures in 1...min(2, requests) {
          #expect(limit(settings, counts(requests, failures: failures), counts(others)) == nil)
        }
      }
    }
  }

  /// Two sides that do alike are told apart by chance in few windows of many.
  @Test func equalSidesAreSeldomTakenForDifferent() {
    var random = SeededGenerator(seed: 5)
    var settings = RouteSettings.Guard(minimumRequests: 20)
    settings.maximumErrorRateRatio = 150
    var wrong = 0
    for _ in 0..<2_000 {
      func failures() -> UInt64 { UInt64((0..<200).count { _ in Int.random(in: 0..<100, using: &random) < 3 }) }
      if limit(settings, counts(200, failures: failures()), counts(200, failures: failures())) != nil { wrong += 1 }
    }
    #expect(wrong < 60)
  }

  @Test func latenciesAreCompared() {
    var settings = RouteSettings.Guard(minimumRequests: 20)
    settings.maximumLatencyRatio = 150
    #expect(limit(settings, counts(50, milliseconds: 40), counts(50, milliseconds: 20)) == .latencyRatio)
    #expect(limit(settings, counts(50, milliseconds: 24), counts(50, milliseconds: 20)) == nil)
    // Below a millisecond it is noise.
    #expect(limit(settings, counts(50, milliseconds: 1), counts(50, milliseconds: 0)) == nil)
  }

  @Test func differencesAreCountedByThemselves() {
    var settings = RouteSettings.Guard(minimumRequests: 20)
    settings.maximumMismatchRate = 100
    var rpc = SideCounts()
    (rpc.matches, rpc.mismatches) = (19, 0)
    #expect(limit(settings, rpc, counts(0)) == nil)
    (rpc.matches, rpc.mismatches) = (19, 1)
    #expect(limit(settings, rpc, counts(0)) == .mismatchRate)
    (rpc.matches, rpc.mismatches) = (99, 1)
    #expect(limit(settings, rpc, counts(0)) == nil)
  }
}
