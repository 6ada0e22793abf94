import Testing

@testable import Gateway

@Suite struct HeadersTests {
  private static let rules = [
    "interceptors:", "  - headers:",
    "      request: { set: { x-env: prod, user-agent: turnout }, add: { x-tag: [ b, c ] }, remove: [ x-internal ] }",
    "      response: { set: { x-served: gateway }, add: { x-more: 1 }, remove: [ x-debug ] }",
  ]

  @Test(arguments: Way.allCases)
  func fieldsAreChangedBothWays(_ way: Way) throws {
    let backend = try ScriptedUpstream()
    let gateway = try way.gateway(backend, Self.rules)
    let (asked, answer) = try gateway.exchange(
      "GET", "/v1/crates/7", ["X-Env: test", "x-env: dev", "X-Tag: a", "X-INTERNAL: 1", "User-Agent: curl"],
      at: backend, answers: ["X-Debug: 1", "x-served: me", "x-more: 0"])
    #expect(asked.all("x-env") == ["prod"])
    #expect(asked.all("user-agent") == ["turnout"])
    #expect(asked.all("x-tag") == ["a", "b", "c"])
    #expect(asked["x-internal"] == nil)
    #expect(answer.status == 200)
    #expect(answer.all("x-served") == ["gateway"])
    #expect(answer.all("x-more") == ["0", "1"])
    #expect(answer["x-debug"] == nil)
  }

  @Test func refusalsAreChangedToo() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.translated.gateway(backend, Self.rules)
    for target in ["/nowhere", "/v1/crates/7?nothing=1"] {
      let answer = try gateway.client().ask("GET", target)
      #expect(answer.status >= 400)
      #expect(answer.all("x-served") == ["gateway"])
    }
    #expect(!backend.isAsked())
  }

  @Test func whatIsGlobalComesBeforeWhatIsTheServicesAndTheMethods() throws {
    let backend = try ScriptedUpstream()
    func rule(_ name: String) -> String {
      "[ { headers: { request: { add: { x-tag: \(name) } }, response: { add: { x-tag: \(name) } } } } ]"
    }
    let settings = [
      "interceptors: \(rule("service"))", "methods:", "  Get: { interceptors: \(rule("method")) }",
    ]
    let gateway = try TestGateway(
      Depot.configuration(
        rest: backend, rpc: nil, settings, more: ["fallback: legacy", "interceptors: \(rule("global"))"]))
    let get = try gateway.exchange("GET", "/v1/crates/7", at: backend)
    #expect(get.asked.all("x-tag") == ["global", "service", "method"])
    #expect(get.answer.all("x-tag") == ["method", "service", "global"])
    let create = try gateway.exchange("POST", "/v1/crates", body: "{}", at: backend)
    #expect(create.asked.all("x-tag") == ["global", "service"])
    let other = try gateway.exchange("GET", "/other", at: backend)
    #expect(other.asked.all("x-tag") == ["global"])
    #expect(other.answer.all("x-tag") == ["global"])
  }

  @Test func anUpstreamsHeadersAreForItAlone() throws {
    let rest = try ScriptedUpstream()
    let rpc = try ScriptedUpstream()
    let yaml = Depot.configuration(rest: rest, rpc: rpc, ["stage: shadow"])
      .replacing("protocol: rest,", with: "protocol: rest, headers: { set: { authorization: old, x-side: rest } },")
      .replacing("protocol: connect,", with: "protocol: connect, headers: { set: { authorization: new } },")
    let gateway = try TestGateway(yaml)
    let (asked, _) = try gateway.exchange("GET", "/v1/crates/7", ["authorization: mine", "x-side: none"], at: rest)
    #expect(asked.all("authorization") == ["old"])
    #expect(asked.all("x-side") == ["rest"])
    let copy = try rpc.accept().receiveMessage()
    #expect(copy.all("authorization") == ["new"])
    #expect(copy.all("x-side") == ["none"])
  }
}
