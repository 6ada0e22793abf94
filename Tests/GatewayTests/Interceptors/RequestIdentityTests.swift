import Testing

@testable import Gateway

@Suite struct RequestIdentityTests {
  private static let on = ["interceptors: [ request_id: {} ]", "fallback: legacy"]

  private static func isMade(_ id: String?) -> Bool {
    guard let id else { return false }
    return id.count == 32 && id.allSatisfy { $0.isHexDigit }
  }

  @Test func aCallersOwnIsKept() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.passedOn.gateway(backend, Self.on)
    for target in ["/v1/crates/7", "/elsewhere"] {
      let (asked, answer) = try gateway.exchange(
        "GET", target, ["X-Request-Id: my.id-1"], at: backend, answers: ["x-request-id: theirs"])
      #expect(asked.all("x-request-id") == ["my.id-1"])
      #expect(answer.all("x-request-id") == ["my.id-1"])
    }
  }

  private static let bad = [
    [], ["x-request-id:"], ["x-request-id: a b"], ["x-request-id: a", "x-request-id: b"],
    ["x-request-id: " + String(repeating: "a", count: 129)],
  ]

  @Test(arguments: Way.allCases, bad)
  func anyOtherIsMade(way: Way, fields: [String]) throws {
    let backend = try ScriptedUpstream()
    let gateway = try way.gateway(backend, ["interceptors: [ request_id: {} ]"])
    let (asked, answer) = try gateway.exchange("GET", "/v1/crates/7", fields, at: backend)
    #expect(asked.all("x-request-id").count == 1)
    #expect(Self.isMade(asked["x-request-id"]))
    #expect(answer.all("x-request-id") == asked.all("x-request-id"))
  }

  @Test func refusalsHaveIt() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.translated.gateway(backend, ["interceptors: [ request_id: {} ]"])
    let client = try gateway.client()
    #expect(try client.ask("GET", "/nowhere", ["x-request-id: mine"]).all("x-request-id") == ["mine"])
    #expect(Self.isMade(try client.ask("GET", "/v1/crates/7?x=1")["x-request-id"]))
    let connect = try client.ask("GET", "/depot.v1.CrateService/Create")
    #expect(connect.status == 405)
    #expect(Self.isMade(connect["x-request-id"]))
  }

  @Test func nobodyIsTrustedWhenItSaysSo() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.passedOn.gateway(backend, ["interceptors: [ request_id: { trust: false } ]"])
    let (asked, _) = try gateway.exchange("GET", "/v1/crates/7", ["x-request-id: mine"], at: backend)
    #expect(Self.isMade(asked["x-request-id"]))
  }
}
