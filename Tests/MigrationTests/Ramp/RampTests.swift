import Configuration
import RandomnessTestSupport
import Testing

@testable import Migration

@Suite struct RampTests {
  static let second: UInt64 = 1_000_000_000

  private func machine() -> RampMachine {
    RampMachine(RouteSettings.Ramp(steps: [100, 2_500, 10_000], every: .seconds(10)), minimumRequests: 20)
  }

  private func canary(_ hundredths: Int) throws -> StageSetting {
    StageSetting(.canary, share: try #require(Share(hundredths: hundredths)))
  }

  @Test func eachStepWaitsForTimeCallsAndTheGuard() throws {
    var ramp = machine()
    let setting = try canary(100)
    func next(_ judgement: GuardJudgement, _ requests: UInt64, _ at: UInt64, held: Bool = false) -> RampMachine.Action {
      ramp.next(
        setting, isHeld: held, isTripped: false, judgement, requests: requests, at: at * Self.second)
    }
    #expect(next(.content, 1_000, 5) == .wait(.time(15 * Self.second)))
    #expect(next(.content, 1_100, 14) == .wait(.time(15 * Self.second)))
    #expect(next(.content, 1_019, 15) == .wait(.requests(seen: 19, of: 20)))
    #expect(next(.exceeded(.errorRate, "bad"), 1_050, 16) == .wait(.unhappy("bad")))
    #expect(next(.content, 1_050, 17, held: true) == .wait(.held))
    #expect(next(.content, 1_050, 18) == .advance(try canary(2_500).share))
  }

  @Test func itGoesOnFromWhereverSomebodyPutsIt() throws {
    var ramp = machine()
    _ = ramp.next(try canary(100), isHeld: false, isTripped: false, .content, requests: 0, at: 0)
    let action = ramp.next(
      try canary(3_000), isHeld: false, isTripped: false, .content, requests: 90, at: 30 * Self.second)
    #expect(action == .wait(.time(40 * Self.second)))
    #expect(
      ramp.next(try canary(3_000), isHeld: false, isTripped: false, .content, requests: 110, at: 40 * Self.second)
        == .advance(.all))
    #expect(
      ramp.next(try canary(10_000), isHeld: false, isTripped: false, .content, requests: 110, at: 41 * Self.second)
        == .wait(.finished))
    #expect(ramp.step(at: .none) == 0 && ramp.step(at: .all) == 3)
    #expect(try ramp.step(at: canary(2_499).share) == 1)
  }

  @Test func itRestsWhereThereIsNoCanary() throws {
    var ramp = machine()
    for setting in [StageSetting(.rest), StageSetting(.shadow), StageSetting(.rpc)] {
      let action = ramp.next(setting, isHeld: false, isTripped: false, .content, requests: 500, at: 1 << 62)
      #expect(action == .wait(.idle))
    }
    let action = ramp.next(StageSetting(.canary), isHeld: false, isTripped: true, .content, requests: 500, at: 1 << 62)
    #expect(action == .wait(.idle))
  }

  /// With a clock and a guard of chance: steps come in order, none too early, none while held or unhappy.
  @Test(arguments: 0..<20)
  func stepsComeInOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var ramp = machine()
    var setting = try canary(100)
    var (now, requests, since, begun): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var shares = [setting.share]
    for tick in 0..<2_000 {
      let isHeld = Int.random(in: 0..<10, using: &random) == 0
      let judgement: GuardJudgement =
        Int.random(in: 0..<10, using: &random) == 0 ? .exceeded(.errorRate, "x") : .content
      let action = ramp.next(setting, isHeld: isHeld, isTripped: false, judgement, requests: requests, at: now)
      if tick == 0 { (since, begun) = (now, requests) }
      if case .advance(let share) = action {
        #expect(!isHeld && judgement == .content && now - since >= 10 * Self.second && requests - begun >= 20)
        shares.append(share)
        setting = StageSetting(.canary, share: share)
        // The machine sees it with the next tick.
        now += Self.second / 10
        _ = ramp.next(setting, isHeld: true, isTripped: false, .content, requests: requests, at: now)
        (since, begun) = (now, requests)
      }
      now += Self.second / 10
      requests += UInt64.random(in: 0...1, using: &random)
    }
    #expect(shares.map(\.hundredths) == [100, 2_500, 10_000])
  }
}
