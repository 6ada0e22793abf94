import Configuration
import Testing

@testable import Gateway

@Suite struct StageTests {
  private func set(_ gateway: TestGateway, _ method: String, _ stage: String) throws {
    _ = try gateway.running.setStage(
      procedure: "\(Depot.service)/\(method)", stage: stage, percent: nil, reason: "test"
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
      procedure: "\(Depot.service)/Get", stage: "rpc", percent: 10, reason: "")
    #expect(throws: ControlError.self) { try outcome.get() }
  }

  @Test func theRegistryKeepsWhatWasSetUntilTheFileSaysSomethingNew() {
    let registry = StageRegistry()
    let cell = registry.cell(for: "a", configured: .rest)
    registry.publish([("a", .rest)])
    cell.stage = .rpc
    #expect(registry.cell(for: "a", configured: .shadow) === cell)
    // Compiling alone changes nothing: the reload may fail.
    #expect(cell.stage == .rpc)
    registry.publish([("a", .rest)])
    #expect(cell.stage == .rpc)
    registry.publish([("a", .shadow)])
    #expect(cell.stage == .shadow)
    registry.publish([("a", .shadow), ("b", .rpc)])
    #expect(cell.stage == .shadow)
    #expect(registry.cell(for: "b", configured: .rest).stage == .rest)
  }

  @Test(arguments: RouteSettings.Stage.allCases)
  func aCellHoldsEveryStage(stage: RouteSettings.Stage) {
    let cell = StageCell(.rest)
    cell.stage = stage
    #expect(cell.stage == stage)
    #expect(StageCell(stage).stage == stage)
  }

  @Test func aDecisionFollowsTheStage() {
    #expect(StageDecision(.rest).side == .rest && !StageDecision(.rest).shadows)
    #expect(StageDecision(.shadow).side == .rest && StageDecision(.shadow).shadows)
    #expect(StageDecision(.rpc).side == .rpc && !StageDecision(.rpc).shadows)
  }
}
