import Configuration
import Migration
import Synchronization
import Testing

@testable import Gateway

@Suite struct StageTests {
  private func set(_ gateway: TestGateway, _ method: String, _ stage: String) throws {
    _ = try gateway.running.setStage(
      "\(Depot.service)/\(method)", StageChange(stage: stage, reason: "test"), actor: "test"
    ).get()
  }

  @Test func theNextRequestOnTheSameConnectionFollowsAFlip() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc))
    let (first, second) = (try gateway.client(), try gateway.client())
    // One call is under way.
    first.request("GET", "/v1/crates/1")
    let old = try rest.accept()
    _ = try old.receiveMessage()
    second.request("GET", "/v1/crates/2")
    let other = try rest.accept()
    _ = try other.receiveMessage()
    other.answer(json: #"{"id":"rest"}"#)
    #expect(try second.receiveMessage().text == #"{"id":"rest"}"#)

    try set(gateway, "Get", "rpc")
    second.request("GET", "/v1/crates/3")
    let new = try rpc.accept()
    #expect(try new.receiveMessage().startLine == "POST /depot.v1.CrateService/Get HTTP/1.1")
    new.answer(json: #"{"id":"rpc"}"#)
    #expect(try second.receiveMessage().text == #"{"id":"rpc"}"#)

    // What was in flight stays where it was, and the next on its connection follows.
    old.answer(json: #"{"id":"late"}"#)
    #expect(try first.receiveMessage().text == #"{"id":"late"}"#)
    first.request("GET", "/v1/crates/4")
    _ = try new.receiveMessage()
    new.answer(json: "{}")
    #expect(try first.receiveMessage().status == 200)

    try set(gateway, "Get", "rest")
    first.request("GET", "/v1/crates/5")
    // The connection that was used last is taken first.
    #expect(try old.receiveMessage().startLine == "GET /v1/crates/5 HTTP/1.1")
    old.answer(json: "{}")
    #expect(try first.receiveMessage().status == 200)
    #expect(gateway.metric("turnout_requests_total", "side=\"rest\"") == 3)
    #expect(gateway.metric("turnout_requests_total", "side=\"rpc\"") == 2)
  }

  @Test(arguments: [("Gett", "rpc"), ("Get", "canary"), ("Get", "shadow"), ("Get", "")])
  func whatCannotBeSetIsRefused(method: String, stage: String) throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    #expect(throws: ControlError.self) { try set(gateway, method, stage) }
  }

  @Test func aShareGoesWithCanaryOnly() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc))
    let outcome = gateway.running.setStage(
      "\(Depot.service)/Get", StageChange(stage: "rpc", percent: 10), actor: "test")
    #expect(throws: ControlError.self) { try outcome.get() }
  }

  @Test func aCanaryNeedsAShareFromSomewhere() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc))
    #expect(throws: ControlError.self) { try set(gateway, "Get", "canary") }
    let name = "\(Depot.service)/Get"
    _ = try gateway.running.setStage(name, StageChange(stage: "canary", percent: 12.5), actor: "test").get()
    #expect(gateway.running.shared.stages.state(of: name)?.effective.description == "canary at 12.5%")
    // That of the canary which runs.
    try set(gateway, "Get", "canary")
    #expect(gateway.running.shared.stages.state(of: name)?.effective.share.hundredths == 1250)
  }

  @Test func theRegistryKeepsWhatWasSetUntilTheFileSaysSomethingNew() {
    let registry = StageRegistry()
    let cell = registry.cell(for: "a", configured: StageSetting(.rest))
    let origin = StageOrigin(.admin, at: 0)
    registry.publish([("a", StageSetting(.rest))])
    registry.set("a", to: StageSetting(.rpc), origin)
    #expect(registry.cell(for: "a", configured: StageSetting(.shadow)) === cell)
    // Compiling alone changes nothing: the reload may fail.
    #expect(cell.setting == StageSetting(.rpc))
    registry.publish([("a", StageSetting(.rest))])
    #expect(cell.setting == StageSetting(.rpc))
    registry.publish([("a", StageSetting(.shadow))])
    #expect(cell.setting == StageSetting(.shadow))
    registry.publish([("a", StageSetting(.shadow)), ("b", StageSetting(.rpc))])
    #expect(cell.setting == StageSetting(.shadow))
    #expect(registry.cell(for: "b", configured: StageSetting(.rest)).setting == StageSetting(.rest))
  }

  @Test func aTripOfWhatSomebodyHasSetMeanwhileIsNone() throws {
    let registry = StageRegistry()
    let cell = registry.cell(for: "a", configured: StageSetting(.rpc))
    let judged = try #require(registry.state(of: "a")).revision
    registry.set("a", to: StageSetting(.rpc), StageOrigin(.admin, at: 7))
    var counted = 0
    registry.trip("a", to: StageSetting(.rest), judged: judged, reason: "too bad") { counted += 1 }
    #expect(cell.content == StageCell.Content(setting: StageSetting(.rpc)) && counted == 0)
    registry.trip("a", to: StageSetting(.rest), judged: judged + 1, reason: "too bad") {
      counted += 1
      // Nobody sees a trip that is not counted yet.
      #expect(!cell.content.isTripped)
    }
    #expect(cell.content == StageCell.Content(setting: StageSetting(.rest), isTripped: true) && counted == 1)
  }

  @Test func everyChangeIsTold() {
    let registry = StageRegistry()
    let told = Mutex<[StageChangeRecord]>([])
    registry.onChange { record in told.withLock { $0.append(record) } }
    let cell = registry.cell(for: "a", configured: StageSetting(.rest))
    let origin = StageOrigin(.admin, actor: "me", reason: "why", at: 7)
    let half = StageSetting(.canary, share: Share(hundredths: 5000) ?? .none)
    registry.set("a", to: half, origin)
    registry.trip("a", to: StageSetting(.canary), reason: "too bad")
    #expect(cell.content == StageCell.Content(setting: StageSetting(.canary), isTripped: true))
    registry.trip("a", to: StageSetting(.rest), reason: "again")
    registry.hold("a", true, origin)
    registry.set("a", to: half, origin)
    registry.clear("a", origin)
    registry.clear("a", origin)
    registry.set("unknown", to: half, origin)
    let records = told.withLock { $0 }
    #expect(
      records.map(\.to.description) == ["canary at 50%", "canary at 0%", "canary at 0%", "canary at 50%", "rest"])
    #expect(records.map(\.origin.kind) == [.admin, .guard, .admin, .admin, .admin])
    #expect(records.map(\.action) == [.moved, .moved, .held, .moved, .moved])
    #expect(registry.state(of: "a")?.history == records.reversed())
    #expect(cell.content == StageCell.Content(setting: StageSetting(.rest)))
  }

  @Test(arguments: RouteSettings.Stage.allCases, [0, 1, 2_550, 9_999, 10_000])
  func aCellHoldsEveryStageAndShare(stage: RouteSettings.Stage, share: Int) throws {
    let cell = StageCell(StageSetting(.rest))
    let setting = StageSetting(stage, share: try #require(Share(hundredths: share)))
    for isTripped in [false, true] {
      let content = StageCell.Content(setting: setting, isTripped: isTripped)
      cell.store(content)
      #expect(cell.content == content)
    }
    #expect(StageCell(setting).setting == setting)
  }

  @Test func aDecisionFollowsTheStage() {
    #expect(StageDecision(.rest).side == .rest && !StageDecision(.rest).shadows)
    #expect(StageDecision(.shadow).side == .rest && StageDecision(.shadow).shadows)
    #expect(StageDecision(.rpc).side == .rpc && !StageDecision(.rpc).shadows)
  }
}
