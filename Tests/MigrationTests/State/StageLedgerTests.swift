import Configuration
import JSONValues
import RandomnessTestSupport
import Testing

@testable import Migration

@Suite struct StageLedgerTests {
  private typealias Overlay = StageState.Overlay

  private static func setting(_ generator: inout SeededGenerator) -> StageSetting {
    let stages = RouteSettings.Stage.allCases
    let share = Share(hundredths: Int.random(in: 0...10_000, using: &generator)) ?? .none
    return StageSetting(stages[Int.random(in: 0..<stages.count, using: &generator)], share: share)
  }

  private static func overlay(_ generator: inout SeededGenerator) -> Overlay {
    var overlay = Overlay(isHeld: Bool.random(using: &generator))
    let at = Int64.random(in: 0...Int64.max, using: &generator)
    let reasons = ["", "a \"b\"\n\u{7F}ü", "slow"]
    let reason = reasons[Int.random(in: 0..<reasons.count, using: &generator)]
    if Bool.random(using: &generator) {
      overlay.override = .init(
        setting(&generator), StageOrigin(.admin, actor: "10.0.0.7", reason: reason, at: at))
    }
    if Bool.random(using: &generator) {
      overlay.trip = .init(to: setting(&generator), from: setting(&generator), reason: reason, at: at)
    }
    return overlay
  }

  private static func state(_ procedure: String, _ configured: StageSetting, _ overlay: Overlay) -> StageState {
    var state = StageState(procedure: procedure, configured: configured)
    _ = state.restore(overlay, StageOrigin(.peer, at: 0))
    return state
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func documentsComeBackFromJSONAsTheyWere(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let documents = (0..<50).map { number in
      StageDocument(
        procedure: "a.b.S/M\(number)",
        version: .init(time: Int64.random(in: 0...StageDocument.Version.latest, using: &generator), writer: "0a1b"),
        replica: "host:1",
        configured: Self.setting(&generator), overlay: Self.overlay(&generator))
    }
    let bytes = StateFileContent(documents).bytes(writtenAt: "2026-01-01T00:00:00.000Z")
    #expect(try StateFileContent(parsing: bytes).documents == documents)
    // Every cut and every changed byte is a fault or another document, never a crash.
    for _ in 0..<200 {
      var broken = bytes
      let place = Int.random(in: 0..<broken.count, using: &generator)
      if Bool.random(using: &generator) {
        broken.removeSubrange(place...)
      } else {
        broken[place] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = try? StateFileContent(parsing: broken)
    }
  }

  @Test(arguments: [
    "", "{}", "[]", "{\"turnout_state\":2,\"routes\":[]}", "{\"turnout_state\":1}",
    "{\"turnout_state\":1,\"routes\":[{}]}", "{\"turnout_state\":1,\"routes\":[7]}",
    "{\"turnout_state\":1,\"routes\":[",
    """
    {"turnout_state":1,"routes":[{"procedure":"a/b","version":"0000000000000000001@a","configured":{"stage":"new"}}]}
    """,
  ])
  func whatIsNoStateFileIsRefusedWithAReason(text: String) {
    let fault = #expect(throws: StateFault.self) { try StateFileContent(parsing: Array(text.utf8)) }
    #expect(fault?.reason.isEmpty == false)
  }

  @Test func versionsAsTextHaveTheOrderOfVersions() throws {
    let versions = [0, 1, 9, 10, 99_999_999_999, StageDocument.Version.latest].flatMap { time in
      ["0a", "ff"].map { StageDocument.Version(time: time, writer: $0) }
    }
    #expect(versions == versions.sorted())
    #expect(versions.map(\.description) == versions.map(\.description).sorted())
    for version in versions { #expect(StageDocument.Version(version.description) == version) }
    for text in [
      "", "@", "1@a", "-000000000000000001@a", "000000000000000000x@a", "0000000000000000001@",
      // After these nothing could come.
      "8000000000000000001@a", "9223372036854775807@a", "+000000000000000001@a",
    ] {
      #expect(StageDocument.Version(text) == nil)
    }
  }

  @Test func onlyWhatIsNewIsRecorded() throws {
    var ledger = StageLedger(writer: "0a", replica: "a")
    var state = StageState(procedure: "a/b", configured: StageSetting(.rest))
    var recorded = ledger.record(state, at: 5)
    #expect(recorded == nil)
    _ = state.set(StageSetting(.rpc), StageOrigin(.admin, at: 6))
    recorded = ledger.record(state, at: 6)
    let first = try #require(recorded)
    recorded = ledger.record(state, at: 7)
    #expect(recorded == nil)
    // What came from elsewhere and took effect here is nothing new.
    var other = StageLedger(writer: "0b", replica: "b")
    let merged = [other.merge(first), other.merge(first)]
    #expect(merged == [true, false])
    recorded = other.record(state, at: 1)
    #expect(recorded == nil)
    _ = state.clear(StageOrigin(.admin, at: 3))
    // A clock that is behind does not make the change older than what it changes.
    recorded = other.record(state, at: 1)
    let second = try #require(recorded)
    #expect(second.version > first.version && second.overlay.isEmpty)
    let isNewer = ledger.merge(second)
    #expect(isNewer)
    _ = state.publish(StageSetting(.shadow), at: 9)
    recorded = ledger.record(state, at: 9)
    #expect(recorded?.configured == StageSetting(.shadow))
  }

  /// Replicas that change routes and hear of each other in any order, twice, or late, agree in the end.
  @Test(arguments: 0..<30 as Range<UInt64>) func replicasAgreeWhateverTheOrder(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let procedures = ["a/1", "a/2", "a/3"]
    var ledgers = (0..<3).map { StageLedger(writer: "0\($0)", replica: "r\($0)") }
    var told: [StageDocument] = []
    for step in 0..<60 {
      let who = Int.random(in: 0..<3, using: &generator)
      if Bool.random(using: &generator) {
        let procedure = procedures[Int.random(in: 0..<3, using: &generator)]
        let state = Self.state(procedure, StageSetting(.rest), Self.overlay(&generator))
        // Clocks that differ by more than the steps between.
        if let document = ledgers[who].record(state, at: Int64(step + 20 * who)) { told.append(document) }
      } else if let document = told.randomElement(using: &generator) {
        _ = ledgers[who].merge(document)
      }
    }
    for who in ledgers.indices { for document in told.shuffled(using: &generator) { _ = ledgers[who].merge(document) } }
    #expect(ledgers[0].sorted == ledgers[1].sorted && ledgers[1].sorted == ledgers[2].sorted)
    for document in ledgers[0].sorted {
      #expect(told.allSatisfy { $0.procedure != document.procedure || $0.version <= document.version })
    }
  }
}
