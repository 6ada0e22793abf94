import Configuration
import Diagnostics
import EventLoops
import Migration
import Testing

@testable import Gateway

@Suite struct ReloadTests {
  private func isOK(_ outcome: ReloadOutcome) -> Bool {
    if case .ok = outcome { true } else { false }
  }

  /// One call that the backend answers.
  private func exchange(_ client: RawClient, _ backend: RawClient, _ target: String = "/v1/crates/1") throws {
    client.request("GET", target)
    #expect(try backend.receiveMessage().startLine == "GET \(target) HTTP/1.1")
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().text == "{}")
  }

  @Test func keepsPoolsAndConnections() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/0")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    _ = try client.receiveMessage()
    for round in 1...3 {
      #expect(isOK(try gateway.reload(Depot.configuration(rest: rest, rpc: nil, ["timeout: \(round)s"]))))
      // On the same two connections.
      try exchange(client, backend)
    }
    #expect(!rest.isAsked())
    #expect(gateway.metric("turnout_upstream_connections", "upstream=\"legacy\"") == 1)
    #expect(gateway.metric("turnout_connections") == 1)
  }

  @Test func keepsAStageThatWasSetUntilTheFileChangesIt() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc))
    _ = try gateway.running.setStage("\(Depot.service)/Get", StageChange(stage: "rpc"), actor: "test").get()
    func stage() -> String? {
      gateway.running.snapshot.routes.first { $0.method == "Get" }?.stage.setting.stage.rawValue
    }
    #expect(isOK(try gateway.reload(Depot.configuration(rest: rest, rpc: rpc, ["timeout: 3s"]))))
    #expect(stage() == "rpc")
    #expect(isOK(try gateway.reload(Depot.configuration(rest: rest, rpc: rpc, ["stage: shadow"]))))
    #expect(stage() == "shadow")
    #expect(isOK(try gateway.reload(Depot.configuration(rest: rest, rpc: rpc, ["stage: rest"]))))
    #expect(stage() == "rest")
  }

  @Test func endsAStageWhoseUpstreamItTakesAway() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc))
    _ = try gateway.running.setStage("\(Depot.service)/Get", StageChange(stage: "rpc"), actor: "test").get()
    #expect(isOK(try gateway.reload(Depot.configuration(rest: rest, rpc: nil))))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    #expect(gateway.metric("turnout_requests_total", "stage=\"rest\"") == 1)
  }

  /// The stage is the process's, the plan the loop's: a plan that cannot serve the stage yet serves its own.
  @Test func aPlanWithoutTheUpstreamOfTheStageServesItsOwn() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    gateway.running.shared.stages.set("\(Depot.service)/Get", to: StageSetting(.rpc), StageOrigin(.admin, at: 0))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
  }

  @Test func aCallEndsOnAnUpstreamThatIsGone() throws {
    let (old, new) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: old, rpc: nil))
    let (client, idle) = (try gateway.client(), try gateway.client())
    client.request("GET", "/v1/crates/1")
    let busy = try old.accept()
    _ = try busy.receiveMessage()
    idle.request("GET", "/v1/crates/2")
    let pooled = try old.accept()
    _ = try pooled.receiveMessage()
    pooled.answer(json: "{}")
    _ = try idle.receiveMessage()

    #expect(isOK(try gateway.reload(Depot.configuration(rest: new, rpc: nil))))
    // What was idle goes at once, what runs ends where it was.
    #expect(pooled.waitForEnd() == .closed)
    busy.answer(json: #"{"id":"late"}"#)
    #expect(try client.receiveMessage().text == #"{"id":"late"}"#)
    #expect(busy.waitForEnd() == .closed)
    client.request("GET", "/v1/crates/3")
    let backend = try new.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    gateway.waitFor("turnout_upstream_connections", "upstream=\"legacy\"", toBe: 1)
  }

  /// What a restart alone changes is told of where it says something else, not where it stands on another line.
  @Test func whatMovedToAnotherLineHasNotChanged() throws {
    let rest = try ScriptedUpstream()
    func text(_ settings: [String], probes: String = "127.0.0.1") -> String {
      Depot.configuration(
        rest: rest, rpc: rest, settings,
        more: [
          "admin: { address: 127.0.0.1:0 }", "probes: { address: \(probes):0 }", "state: { file: kept }",
          "audit: { path: audit.log }",
        ])
    }
    let warning = "probes changes with the next start only"
    let gateway = try TestGateway(text([]))
    guard case .ok(let warnings) = try gateway.reload(text(["timeout: 3s"])) else {
      Issue.record("the reload failed")
      return
    }
    #expect(!warnings.map(\.what).contains(warning), "\(warnings)")
    guard case .ok(let told) = try gateway.reload(text([], probes: "127.0.0.2")) else {
      Issue.record("the reload failed")
      return
    }
    #expect(told.map(\.what).contains(warning))
  }

  @Test(arguments: ["\t", "listeners: []\n", "upstreams: { a: { protocol: rest, endpoints: [] } }\n"])
  func aBadFileLeavesTheOldOneServing(text: String) throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    guard case .failed(let diagnostics) = try gateway.reload(text) else {
      Issue.record("the reload did not fail")
      return
    }
    #expect(!diagnostics.isEmpty)
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    #expect(gateway.metric("turnout_config_reloads_total", "outcome=\"failed\"") >= 1)
  }

  // MARK: Listeners

  private func configuration(_ rest: ScriptedUpstream, ports: [UInt16]) -> String {
    let listeners = ports.map { "{ address: 127.0.0.1:\($0) }" }.joined(separator: ", ")
    return Depot.configuration(rest: rest, rpc: nil).replacing(
      "listeners: [{ address: 127.0.0.1:0 }]", with: "listeners: [\(listeners)]")
  }

  @Test func aListenerComesAndGoes() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest, ports: [0]))
    let free = try RawListenerPort()
    #expect(isOK(try gateway.reload(configuration(rest, ports: [0, free.port]))))
    #expect(gateway.running.addresses.listeners.map(\.port).contains(free.port))
    let client = try gateway.client(1)
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)

    // Gone: its open connection goes on, and nobody can connect.
    #expect(isOK(try gateway.reload(configuration(rest, ports: [0]))))
    // The socket goes with the last job that knows it: that is done when a job of the next round has run.
    for _ in 0..<2 { #expect(try gateway.onLoop { _ in true }) }
    #expect(throws: RawClient.NoConnection.self) { try RawClient(try free.address) }
    try exchange(client, backend)

    // Back again, beside the old connection.
    #expect(isOK(try gateway.reload(configuration(rest, ports: [0, free.port]))))
    try exchange(try gateway.client(1), backend)
    try exchange(client, backend)
  }

  @Test func aTakenPortFailsTheReload() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest, ports: [0]))
    guard case .failed(let diagnostics) = try gateway.reload(configuration(rest, ports: [0, rest.port])) else {
      Issue.record("the reload did not fail")
      return
    }
    #expect(diagnostics.contains { $0.description.contains("turnout.yaml:1:") })
    #expect(gateway.running.addresses.listeners.count == 1)
  }
}
