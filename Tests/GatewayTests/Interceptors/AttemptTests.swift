import Configuration
import HTTPModel
import Testing

@testable import Gateway

/// Writes down the attempts of calls, and marks their requests.
private struct AttemptJournal: Interceptor {
  let name: String
  let journal: Journal

  func onAttempt(_ call: Call, _ request: UpstreamRequest, _ upstream: UpstreamConfiguration) {
    journal.write("\(name) attempt \(upstream.name)")
    request.fields.append("x-attempt", name)
  }

  func onAttemptEnd(_ call: Call, _ end: AttemptEnd) {
    journal.write(
      "\(name) attempt end \(end.upstream) \(end.status.map { "\($0)" } ?? "-") \(end.failure.map { "\($0)" } ?? "-")")
  }

  func onEnd(_ call: Call) { journal.write("\(name) end") }
}

@Suite struct AttemptTests {
  private static func interceptors(_ journal: Journal) -> [any Interceptor] {
    ["a", "b"].map { AttemptJournal(name: $0, journal: journal) }
  }

  @Test func anAttemptIsEnteredInOrderAndLeftInReverse() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil), interceptors: Self.interceptors(journal))
    let (asked, _) = try gateway.exchange("GET", "/v1/crates/7", at: rest)
    #expect(asked.all("x-attempt") == ["a", "b"])
    try gateway.waitUntil { _ in journal.all.contains("a end") }
    #expect(
      journal.all == [
        "a attempt legacy", "b attempt legacy", "b attempt end legacy 200 -", "a attempt end legacy 200 -", "b end",
        "a end",
      ])
  }

  @Test func aFailedAttemptSaysHow() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil), interceptors: Self.interceptors(journal))
    let client = try gateway.client()
    client.request("POST", "/v1/crates", body: "{}")
    do {
      let backend = try rest.accept()
      _ = try backend.receiveMessage()
    }
    #expect(try client.receiveMessage().status == 502)
    #expect(journal.all.contains("a attempt end legacy - closed"))
    #expect(journal.count(of: "a attempt end legacy - closed") == 1)
  }

  @Test func aCallerWhoLeavesEndsTheAttempt() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil), interceptors: Self.interceptors(journal))
    var client: RawClient? = try gateway.client()
    client?.request("GET", "/v1/crates/7")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    client = nil
    try gateway.waitUntil { _ in journal.all.contains("a end") }
    #expect(journal.count(of: "a attempt end legacy - -") == 1)
  }

  @Test func aShadowsRequestIsPreparedToo() throws {
    let rest = try ScriptedUpstream()
    let rpc = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: rpc, ["stage: shadow"]), interceptors: Self.interceptors(journal))
    let (asked, _) = try gateway.exchange("GET", "/v1/crates/7", at: rest)
    #expect(asked.all("x-attempt") == ["a", "b"])
    let copy = try rpc.accept()
    #expect(try copy.receiveMessage().all("x-attempt") == ["a", "b"])
    copy.answer(json: "{}")
    try gateway.waitUntil { $0.shadows.isEmpty }
    #expect(journal.count(of: "a attempt depot") == 1 && journal.count(of: "a attempt legacy") == 1)
    #expect(journal.all.filter { $0.hasPrefix("a attempt end") } == ["a attempt end legacy 200 -"])
  }
}
