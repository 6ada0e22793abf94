import Testing

@testable import Gateway

@Suite struct CORSTests {
  private static let origin = "Origin: https://app.example"
  private static let cors = "cors: { origins: [ \"https://app.example\" ], expose: [ x-rows ], headers: [ X-Tenant ] }"
  private static let asked = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"]

  private static func gateway(
    _ backend: ScriptedUpstream, _ settings: [String] = [], _ more: [String] = ["interceptors: [ \(cors) ]"]
  ) throws -> TestGateway {
    try TestGateway(Depot.configuration(rest: backend, rpc: nil, settings, more: more))
  }

  private static func names(_ answer: RawMessage, _ field: String) -> Set<String> {
    Set(answer.all(field).joined(separator: ",").split(separator: ",").map { $0.drop { $0 == " " }.lowercased() })
  }

  @Test(arguments: [("/depot.v1.CrateService/Create", "POST"), ("/v1/crates", "POST"), ("/v1/crates/7", "GET")])
  func preflightsAreAnswered(target: String, method: String) throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(backend)
    let answer = try gateway.client().ask(
      "OPTIONS", target, [Self.origin, "Access-Control-Request-Method: \(method)"])
    #expect(answer.status == 204)
    #expect(answer.all("access-control-allow-origin") == ["https://app.example"])
    #expect(Self.names(answer, "access-control-allow-methods").contains(method.lowercased()))
    let headers = Self.names(answer, "access-control-allow-headers")
    #expect(
      headers.isSuperset(of: [
        "content-type", "connect-protocol-version", "connect-timeout-ms", "x-user-agent", "grpc-timeout", "x-grpc-web",
        "x-tenant",
      ]))
    #expect(answer["access-control-max-age"] == "7200")
    #expect(answer["access-control-allow-credentials"] == nil)
    #expect(
      Self.names(answer, "vary") == ["origin", "access-control-request-method", "access-control-request-headers"])
    #expect(!backend.isAsked())
  }

  @Test func aProcedureHasTheMethodsOfConnect() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(backend)
    let answer = try gateway.client().ask(
      "OPTIONS", "/depot.v1.CrateService/Create", [Self.origin] + Self.asked)
    #expect(answer["access-control-allow-methods"] == "GET, POST")
  }

  @Test func otherOriginsAreToldNothing() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(backend)
    for origin in ["https://evil.example", "https://app.example.evil", "HTTPS://APP.EXAMPLE", "null"] {
      let preflight = try gateway.client().ask("OPTIONS", "/v1/crates", ["Origin: \(origin)"] + Self.asked)
      #expect(!preflight.fields.contains { $0.name.hasPrefix("access-control-") }, "\(origin)")
      #expect(Self.names(preflight, "vary").contains("origin"))
      let (_, answer) = try gateway.exchange("GET", "/v1/crates/7", ["Origin: \(origin)"], at: backend)
      #expect(!answer.fields.contains { $0.name.hasPrefix("access-control-") }, "\(origin)")
      #expect(Self.names(answer, "vary").contains("origin"))
    }
  }

  @Test(arguments: Way.allCases)
  func answersCanBeRead(_ way: Way) throws {
    let backend = try ScriptedUpstream()
    let gateway = try way.gateway(backend, ["interceptors: [ \(Self.cors) ]"])
    let (asked, answer) = try gateway.exchange(
      "GET", "/v1/crates/7", [Self.origin], at: backend,
      answers: ["access-control-allow-origin: *", "Access-Control-Expose-Headers: x-secret", "vary: accept"])
    #expect(asked["origin"] == "https://app.example")
    #expect(answer.all("access-control-allow-origin") == ["https://app.example"])
    #expect(
      Self.names(answer, "access-control-expose-headers") == [
        "grpc-status", "grpc-message", "grpc-status-details-bin", "x-rows", "trailer-x-rows",
      ])
    #expect(Self.names(answer, "vary").isSuperset(of: ["accept", "origin"]))
  }

  @Test func refusalsCanBeRead() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(
      backend, [], ["interceptors: [ { \(Self.cors) }, { api_key: { keys: k } } ]"])
    for (method, target) in [("GET", "/v1/crates/7"), ("POST", "/depot.v1.CrateService/Get"), ("GET", "/nowhere")] {
      let answer = try gateway.client().ask(method, target, [Self.origin], body: method == "POST" ? "{}" : nil)
      #expect(answer.status == 401)
      #expect(answer["access-control-allow-origin"] == "https://app.example", "\(target)")
    }
    // The preflight itself has no key and needs none.
    #expect(try gateway.client().ask("OPTIONS", "/v1/crates", [Self.origin] + Self.asked).status == 204)
  }

  @Test func whatNobodyTakesIsStillRefused() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(backend)
    let client = try gateway.client()
    let unknown = try client.ask("OPTIONS", "/nowhere", [Self.origin] + Self.asked)
    #expect((unknown.status, unknown["access-control-allow-origin"]) == (404, "https://app.example"))
    let method = try client.ask("OPTIONS", "/v1/crates", [Self.origin, "Access-Control-Request-Method: DELETE"])
    #expect((method.status, method["allow"]) == (405, "POST"))
    // Without an origin or a method it is no preflight.
    #expect(try client.ask("OPTIONS", "/v1/crates", Self.asked).status == 405)
    #expect(try client.ask("OPTIONS", "/v1/crates", [Self.origin]).status == 405)
  }

  @Test func theFallbackGetsOptionsThatAreNoPreflight() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(backend, [], ["interceptors: [ \(Self.cors) ]", "fallback: legacy"])
    let (asked, answer) = try gateway.exchange("OPTIONS", "/legacy", [Self.origin], at: backend)
    #expect(asked.startLine == "OPTIONS /legacy HTTP/1.1")
    #expect(answer["access-control-allow-origin"] == "https://app.example")
    let preflight = try gateway.client().ask("OPTIONS", "/legacy", [Self.origin] + Self.asked)
    #expect(preflight.status == 204 && Self.names(preflight, "access-control-allow-methods").contains("delete"))
    #expect(!backend.isAsked())
  }

  @Test func aServicesOwnIsItsOwn() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Self.gateway(backend, ["interceptors: [ \(Self.cors) ]"], ["fallback: legacy"])
    let answer = try gateway.client().ask("OPTIONS", "/v1/crates", [Self.origin] + Self.asked)
    #expect((answer.status, answer["access-control-allow-origin"]) == (204, "https://app.example"))
    // The fallback has no rules of the gateway: its backend answers.
    let (asked, legacy) = try gateway.exchange("OPTIONS", "/legacy", [Self.origin] + Self.asked, at: backend)
    #expect(asked.startLine == "OPTIONS /legacy HTTP/1.1")
    #expect(legacy["access-control-allow-origin"] == nil)
  }

  @Test func everyOriginAndCredentials() throws {
    let backend = try ScriptedUpstream()
    let any = try Self.gateway(backend, [], ["interceptors: [ cors: { origins: [ \"*\" ], expose: [ \"*\" ] } ]"])
    let open = try any.exchange("GET", "/v1/crates/7", ["Origin: https://any.example"], at: backend).answer
    #expect(open["access-control-allow-origin"] == "*" && open["vary"] == nil)
    #expect(Self.names(open, "access-control-expose-headers").contains("*"))
    let own = try Self.gateway(
      backend, [], ["interceptors: [ cors: { origins: [ \"https://app.example\" ], credentials: true } ]"])
    let answer = try own.exchange("GET", "/v1/crates/7", [Self.origin], at: backend).answer
    #expect(answer["access-control-allow-credentials"] == "true")
    #expect(answer["access-control-allow-origin"] == "https://app.example")
  }
}
