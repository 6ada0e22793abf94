import Configuration
import EventLoopsTestSupport
import Migration
import Testing

@testable import Gateway

/// What reloads with ever new names leave behind.
@Suite struct ReloadMemoryTests {
  private func exchange(_ gateway: TestGateway, _ rest: ScriptedUpstream) throws {
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1", ["User-Agent: phone/1"])
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
  }

  @Test func routesAndUpstreamsThatAreGoneAreLetGo() throws {
    let rest = try ScriptedUpstream()
    func text(_ round: Int) -> String {
      let settings = [
        "guard: { window: 10s, min_requests: 100, max_error_rate: 50% }", "canary: { percent: 0% }", "stage: canary",
      ]
      return Depot.configuration(
        rest: rest, rpc: rest, settings,
        more: ["admin: { address: 127.0.0.1:0 }", "interceptors: [ { access_log: { path: \"log\(round)\" } } ]"]
      ).replacing("CrateService", with: "Crate\(round)Service").replacing("legacy", with: "legacy\(round)")
    }
    func proto(_ round: Int) -> String { Depot.proto.replacing("CrateService", with: "Crate\(round)Service") }
    let gateway = try TestGateway(text(0), proto: proto(0))
    let shared = gateway.running.shared
    try exchange(gateway, rest)
    for round in 1...4 {
      try gateway.folder.write(proto(round), to: "depot.proto")
      guard case .ok = try gateway.reload(text(round)) else {
        Issue.record("the reload failed")
        return
      }
      try exchange(gateway, rest)
      // Guards look at what is there.
      shared.rollout.tick(at: UInt64(round) * 1_000_000_000)
    }
    let expected = Set(
      [3, 4].flatMap { round in
        ["Get", "Create", "Seal", "Watch"].map { "depot.v1.Crate\(round)Service/\($0)" }
      })
    #expect(Set(shared.stages.states.map(\.procedure)) == expected)
    #expect(Set(shared.figures.procedures).isSubset(of: expected))
    #expect(shared.figures.procedures.contains("depot.v1.Crate4Service/Get"))
    #expect(Set(shared.callers.procedures) == ["depot.v1.Crate3Service/Get", "depot.v1.Crate4Service/Get"])
    #expect(Set(shared.upstreams.all.map(\.name)) == ["legacy3", "legacy4", "depot"])
    #expect(gateway.metric("turnout_upstream_endpoints", "upstream=\"legacy1\"") == 0)
    #expect(shared.accessLogs.count <= 2)
  }

  /// An endpoint that no snapshot leads to any more is known for as long as somebody waits at it, and not longer.
  @Test func anEndpointThatIsGoneIsKnownWhileSomebodyWaitsAtIt() throws {
    let (old, new) = (try ScriptedUpstream(), try ScriptedUpstream())
    func text(_ rest: ScriptedUpstream, _ timeout: String) -> String {
      Depot.configuration(rest: rest, rpc: nil, ["timeout: \(timeout)"])
        .replacing("protocol: rest,", with: "protocol: rest, max_connections: 1,")
    }
    func reload(_ text: String) throws {
      guard case .ok = try gateway.reload(text) else {
        Issue.record("the reload failed")
        return
      }
    }
    let gateway = try TestGateway(text(old, "60s"))
    let first = try gateway.client()
    first.request("GET", "/v1/crates/1")
    let busy = try old.accept()
    _ = try busy.receiveMessage()
    var second: RawClient? = try gateway.client()
    second?.request("GET", "/v1/crates/2")
    try gateway.waitUntil { $0.endpoints.values.contains { $0.members.contains(where: \.hasWaiting) } }
    #expect(try gateway.onLoop { $0.leftBehind.count } == 0)
    // Its snapshot has no other endpoint, so it waits where it was.
    try reload(text(new, "61s"))
    try gateway.waitUntil { $0.leftBehind.count == 1 && $0.leftBehind.allSatisfy(\.hasWaiting) }
    try reload(text(new, "62s"))
    #expect(try gateway.onLoop { $0.leftBehind.count } == 1)
    // The caller leaves.
    second = nil
    try gateway.waitUntil { !$0.leftBehind.contains(where: \.hasWaiting) }
    try reload(text(new, "63s"))
    try gateway.waitUntil { $0.leftBehind.isEmpty }
    busy.answer(json: "{}")
    #expect(try first.receiveMessage().status == 200)
  }

  /// Taken out by mistake and put in again: it is as it was. What somebody set stays in any case.
  @Test func whatComesBackWithTheNextReloadIsAsItWas() throws {
    let rest = try ScriptedUpstream()
    let text = Depot.configuration(rest: rest, rpc: rest, more: ["admin: { address: 127.0.0.1:0 }"])
    let gateway = try TestGateway(text)
    let shared = gateway.running.shared
    let get = "\(Depot.service)/Get"
    try exchange(gateway, rest)
    _ = try gateway.running.setStage("\(Depot.service)/Seal", StageChange(stage: "rpc"), actor: "test").get()
    func bare(_ upstream: String) -> String {
      let top = text[..<(text.firstRange(of: "services:")?.lowerBound ?? text.endIndex)]
      return "\(top)fallback: legacy\nadmin: { address: 127.0.0.1:0 }\n".replacing("legacy", with: upstream)
    }
    for _ in 1...2 {
      guard case .ok = try gateway.reload(bare("legacy")), case .ok = try gateway.reload(bare("legacy")),
        case .ok = try gateway.reload(text)
      else {
        Issue.record("a reload failed")
        return
      }
    }
    #expect(shared.figures.totals(of: get)?.rest.requests == 1)
    #expect(shared.callers.procedures == [get])
    for upstream in ["one", "two"] { _ = try gateway.reload(bare(upstream)) }
    #expect(shared.figures.procedures.isEmpty && shared.callers.procedures.isEmpty)
    #expect(shared.stages.states.map(\.procedure) == ["\(Depot.service)/Seal"])
    #expect(shared.stages.state(of: "\(Depot.service)/Seal")?.effective.stage == .rpc)
  }
}
