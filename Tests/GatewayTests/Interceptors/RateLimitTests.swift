import Policies
import Testing

@testable import Gateway

@Suite struct RateLimitTests {
  private static func limit(_ key: String, _ more: String = "") -> String {
    "rate_limit: { requests: 1, per: 1h, key: \(key)\(more) }"
  }

  @Test func eachCallerIsToldInItsProtocol() throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.translated.gateway(backend, ["interceptors: [ \(Self.limit("\"header:x-user\"")) ]"])
    _ = try gateway.exchange("GET", "/v1/crates/7", ["x-user: a"], at: backend)
    let client = try gateway.client()
    let rest = try client.ask("GET", "/v1/crates/7", ["x-user: a"])
    #expect(rest.status == 429)
    let wait = try #require(Int(rest["retry-after"] ?? ""))
    #expect((3500...3600).contains(wait))
    #expect(rest["ratelimit-limit"] == "1" && rest["ratelimit-remaining"] == "0")
    #expect(rest["ratelimit-reset"] == "\(wait)")
    #expect(rest.text.hasPrefix(#"{"code":8,"#))
    #expect(rest.text.contains(#""@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3"#))
    let rpc = try client.ask("POST", "/depot.v1.CrateService/Get", ["x-user: a"], body: "{}")
    #expect(rpc.status == 429 && rpc["retry-after"] != nil && rpc["ratelimit-limit"] == nil)
    #expect(rpc.text.hasPrefix(#"{"code":"resource_exhausted""#) && rpc.text.contains("google.rpc.RetryInfo"))
    #expect(gateway.metric("turnout_rate_limited_total", #"method="Get""#) == 2)
    #expect(!backend.isAsked())
    // Another user is nobody's neighbour.
    let other = try gateway.exchange("GET", "/v1/crates/7", ["x-user: b"], at: backend)
    #expect(other.answer.status == 200)
  }

  /// Which of the requests are taken, for each kind of key.
  @Test(
    arguments: [
      ("client", ["GET /v1/crates/7": false, "POST /v1/crates": false, "GET /other": false]),
      ("route", ["GET /v1/crates/8": false, "POST /v1/crates": true, "GET /other": true, "GET /more": false]),
      ("none", ["GET /v1/crates/8": false, "POST /v1/crates": false, "GET /other": false]),
      ("\"header:x-user\"", ["GET /v1/crates/8": false, "POST /v1/crates": false, "GET /other": false]),
    ] as [(String, KeyValuePairs<String, Bool>)])
  func whatIsCountedTogether(key: String, then: KeyValuePairs<String, Bool>) throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.passedOn.gateway(backend, ["fallback: legacy", "interceptors: [ \(Self.limit(key)) ]"])
    _ = try gateway.exchange("GET", "/v1/crates/7", at: backend)
    for (request, isTaken) in then {
      let parts = request.split(separator: " ").map(String.init)
      if isTaken {
        #expect(try gateway.exchange(parts[0], parts[1], at: backend).answer.status == 200, "\(request)")
      } else {
        #expect(try gateway.client().ask(parts[0], parts[1]).status == 429, "\(request)")
      }
    }
  }

  @Test func aServicesLimitIsNotTheFallbacks() throws {
    let backend = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(
        rest: backend, rpc: nil, ["interceptors: [ \(Self.limit("none")) ]"], more: ["fallback: legacy"]))
    _ = try gateway.exchange("GET", "/v1/crates/7", at: backend)
    #expect(try gateway.client().ask("POST", "/v1/crates", body: "{}").status == 429)
    #expect(try gateway.exchange("GET", "/other", at: backend).answer.status == 200)
  }

  @Test func aReloadOfAnUnchangedLimitResetsNothing() throws {
    let backend = try ScriptedUpstream()
    func yaml(_ interceptors: String) -> String {
      Depot.configuration(rest: backend, rpc: nil, more: ["interceptors: [ \(interceptors) ]"])
    }
    let gateway = try TestGateway(yaml(Self.limit("none")))
    _ = try gateway.exchange("GET", "/v1/crates/7", at: backend)
    let unchanged = [
      Self.limit("none"), "{ request_id: {} }, { \(Self.limit("none")) }", Self.limit("none", ", burst: 1"),
    ]
    for same in unchanged {
      guard case .ok = try gateway.reload(yaml(same)) else {
        Issue.record("the reload failed")
        return
      }
      #expect(try gateway.client().ask("GET", "/v1/crates/7").status == 429)
    }
    _ = try gateway.reload(yaml(Self.limit("none", ", burst: 2")))
    #expect(try gateway.exchange("GET", "/v1/crates/7", at: backend).answer.status == 200)
    // The buckets of limits that are gone are let go.
    try gateway.waitUntil { $0.shared.rateLimiters.count == 1 }
  }
}
