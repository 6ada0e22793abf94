import Configuration
import RandomnessTestSupport
import Testing

@testable import Migration

@Suite struct StageStateTests {
  static let origin = StageOrigin(.admin, actor: "me", reason: "why", at: 1)

  private func canary(_ percent: Double) throws -> StageSetting {
    StageSetting(.canary, share: try #require(Share(percent: percent)))
  }

  @Test func aSettingShowsItself() throws {
    #expect(
      try ["canary at 12.34%", "canary at 0.5%", "canary at 25%", "canary at 0.05%"]
        == [12.34, 0.5, 25, 0.05].map { try canary($0).description })
    #expect(StageSetting(.rpc, share: .none).share == .all && StageSetting(.shadow, share: .all).share == .none)
  }

  @Test func whatLiesOverWhat() throws {
    var state = StageState(procedure: "a.S/M", configured: StageSetting(.rest))
    #expect(state.publish(StageSetting(.rest), at: 0) == nil)
    let ten = try canary(10)
    let first = state.set(ten, Self.origin)
    let record = try #require(first)
    #expect((record.from, record.to, record.origin) == (StageSetting(.rest), ten, Self.origin))
    #expect(state.effective == ten && state.configured == StageSetting(.rest))
    // A trip lies over it, and the second changes nothing.
    let none = try canary(0)
    #expect(state.trip(to: none, reason: "bad", at: 5)?.origin.kind == .guard)
    #expect(state.trip(to: StageSetting(.rest), reason: "worse", at: 6) == nil)
    #expect(state.effective == none)
    #expect(state.trip == StageState.Trip(to: none, from: ten, reason: "bad", at: 5))
    // A reload that says nothing new leaves both.
    #expect(state.publish(StageSetting(.rest), at: 7) == nil)
    #expect(state.effective == none)
    // Whoever sets the stage clears it, even to the same.
    #expect(state.set(ten, Self.origin)?.from == none)
    #expect(state.trip == nil && state.effective == ten)
    // Something new in the file ends it all.
    #expect(state.publish(StageSetting(.rpc), at: 8)?.origin.kind == .file)
    #expect(state.override == nil && state.effective == StageSetting(.rpc))
    #expect(state.clear(Self.origin) == nil)
  }

  @Test func theFileThatCatchesUpEndsAChange() throws {
    var state = StageState(procedure: "a.S/M", configured: StageSetting(.rest))
    _ = state.set(StageSetting(.rpc), Self.origin)
    let record = state.publish(StageSetting(.rpc), at: 2)
    #expect(record?.from == record?.to && state.override == nil)
  }

  @Test func aTripSurvivesUntilTheFileSaysSomethingNew() throws {
    var state = StageState(procedure: "a.S/M", configured: StageSetting(.rpc))
    _ = state.trip(to: StageSetting(.rest), reason: "bad", at: 1)
    #expect(state.publish(StageSetting(.rpc), at: 2) == nil && state.effective == StageSetting(.rest))
    #expect(state.publish(try canary(5), at: 3) != nil)
    #expect(try state.trip == nil && state.effective == canary(5))
  }

  @Test func clearingEndsATripToo() throws {
    var state = StageState(procedure: "a.S/M", configured: try canary(5))
    _ = state.trip(to: try canary(0), reason: "bad", at: 1)
    #expect(state.clear(Self.origin) != nil)
    #expect(try state.effective == canary(5))
  }

  @Test func aRampIsHeldWhateverTheStage() {
    var state = StageState(procedure: "a.S/M", configured: StageSetting(.rest))
    #expect(state.hold(false, Self.origin) == nil)
    #expect(state.hold(true, Self.origin)?.action == .held && state.isHeld)
    _ = state.set(StageSetting(.rpc), Self.origin)
    #expect(state.isHeld)
    #expect(state.hold(false, Self.origin)?.action == .released && !state.isHeld)
  }

  @Test func whatOthersKnowTakesThePlace() throws {
    var state = StageState(procedure: "a.S/M", configured: StageSetting(.rest))
    let peer = StageOrigin(.peer, actor: "other:1", at: 9)
    var overlay = StageState.Overlay(override: .init(StageSetting(.rpc), Self.origin))
    #expect(state.restore(overlay, peer)?.action == .moved)
    #expect(state.restore(overlay, peer) == nil)
    overlay.isHeld = true
    #expect(state.restore(overlay, peer)?.action == .held)
    #expect(state.effective == StageSetting(.rpc) && state.override?.origin == Self.origin)
    #expect(state.restore(StageState.Overlay(), peer)?.to == StageSetting(.rest))
  }

  @Test func theHistoryIsBounded() {
    var state = StageState(procedure: "a.S/M", configured: StageSetting(.rest))
    for number in 0..<50 {
      _ = state.set(StageSetting(number % 2 == 0 ? .rpc : .rest), StageOrigin(.admin, at: Int64(number)))
    }
    #expect(state.history.map(\.origin.at) == (30..<50).reversed().map { Int64($0) })
    #expect(state.revision == 50)
  }

  /// Whatever happens in whatever order: records chain, and what calls follow is what the rules say.
  @Test func recordsChain() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      var state = StageState(procedure: "a.S/M", configured: StageSetting(.rest))
      var last = state.effective
      for step in 0..<60 {
        let share = try #require(Share(hundredths: Int.random(in: 0...10_000, using: &random)))
        let stages = RouteSettings.Stage.allCases
        let setting = StageSetting(stages[Int.random(in: 0..<stages.count, using: &random)], share: share)
        let record: StageChangeRecord? =
          switch Int.random(in: 0..<5, using: &random) {
          case 0: state.publish(setting, at: Int64(step))
          case 1: state.set(setting, Self.origin)
          case 2: state.trip(to: StageSetting(.rest), reason: "x", at: Int64(step))
          case 3: state.clear(Self.origin)
          default: state.hold(Bool.random(using: &random), Self.origin)
          }
        if let record { #expect(record.from == last && record.to == state.effective) }
        last = state.effective
        #expect(last == state.trip?.setting ?? state.override?.setting ?? state.configured)
      }
    }
  }
}
