import Testing

@testable import Gateway

/// A call ends exactly once, whoever ends or fails first.
@Suite struct EndingTests {
  private func gateway(
    _ rest: ScriptedUpstream?, _ rpc: ScriptedUpstream?, _ journal: Journal, _ settings: [String] = []
  ) throws -> TestGateway {
    try TestGateway(
      Depot.configuration(rest: rest, rpc: rpc, settings),
      interceptors: [JournalInterceptor(name: "a", journal: journal)])
  }

  private func ends(_ journal: Journal) -> [String] { journal.all.filter { $0.contains(" end ") } }

  @Test(arguments: [("/v1/crates/7", "GET"), ("/depot.v1.CrateService/Create", "POST")])
  func theCallersLeavingCancelsTheAttempt(target: String, method: String) throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try gateway(rest, nil, journal)
    var client: RawClient? = try gateway.client()
    client?.request(method, target, body: method == "POST" ? "{}" : nil)
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    client = nil
    #expect(backend.waitForEnd() == .closed)
    gateway.waitFor("turnout_requests_total", "code=\"canceled\"", toBe: 1)
    #expect(ends(journal) == ["a end canceled"])
    #expect(gateway.metric("turnout_requests_total") == 1)
  }

  @Test func anUpstreamThatClosesBeforeItsAnswer() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try gateway(rest, nil, journal)
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    var backend: RawClient? = try rest.accept()
    _ = try backend?.receiveMessage()
    backend = nil
    let answer = try client.receiveMessage()
    #expect(answer.status == 502)
    #expect(answer.text.hasPrefix(#"{"code":14,"#))
    #expect(ends(journal) == ["a end unavailable"])
    // The connection goes on.
    client.request("POST", "/depot.v1.CrateService/Create", body: "{}")
    backend = try rest.accept()
    _ = try backend?.receiveMessage()
    backend = nil
    #expect(try client.receiveMessage().text.hasPrefix(#"{"code":"unavailable","#))
    #expect(ends(journal) == ["a end unavailable", "a end unavailable"])
  }

  @Test func anUpstreamThatFailsInsideItsAnswerCutsTheConnection() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try gateway(rest, nil, journal)
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    var backend: RawClient? = try rest.accept()
    _ = try backend?.receiveMessage()
    backend?.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")
    #expect(try client.receiveHead().status == 200)
    #expect(client.receive(count: 3) == Array("abc".utf8))
    backend = nil
    #expect(client.waitForEnd() == .reset)
    gateway.waitFor("turnout_requests_total", "code=\"unavailable\"", toBe: 1)
    #expect(ends(journal) == ["a end unavailable"])
  }

  /// Its body ends with the connection, so an orderly end would make a cut answer look whole.
  @Test func aCutAnswerToHTTP10ResetsTheConnection() throws {
    let rest = try ScriptedUpstream()
    let gateway = try gateway(rest, nil, Journal())
    let client = try gateway.client()
    client.send("GET /v1/crates/7 HTTP/1.0\r\nhost: gateway.test\r\n\r\n")
    var backend: RawClient? = try rest.accept()
    _ = try backend?.receiveMessage()
    backend?.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n")
    #expect(try client.receiveHead().status == 200)
    #expect(client.receive(count: 3) == Array("abc".utf8))
    backend = nil
    #expect(client.waitForEnd() == .reset)
  }

  @Test func theDeadlineEndsTheCallAndTheAttempt() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try gateway(rest, nil, journal, ["timeout: 200ms"])
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    #expect(try client.receiveMessage().status == 504)
    #expect(backend.waitForEnd() == .closed)
    #expect(ends(journal) == ["a end deadline_exceeded"])
    #expect(gateway.metric("turnout_requests_total", "code=\"deadline_exceeded\"") == 1)
    #expect(gateway.metric("turnout_requests_total") == 1)
  }

  @Test func whatIsLeftOfTheCallersDeadlineGoesUpstream() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try gateway(nil, rpc, Journal(), ["stage: rpc", "timeout: 10s"])
    let client = try gateway.client()
    client.request("POST", "/depot.v1.CrateService/Create", ["connect-timeout-ms: 60000"], body: "{}")
    let backend = try rpc.accept()
    let left = try #require(try backend.receiveMessage()["connect-timeout-ms"].flatMap { Int($0) })
    #expect(left > 0 && left <= 10_000)
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
  }

  @Test func anAnswerThatIsNoHTTP() throws {
    let rest = try ScriptedUpstream()
    let journal = Journal()
    let gateway = try gateway(rest, nil, journal)
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.send("SSH-2.0-OpenSSH_9.2\r\n\r\n")
    #expect(try client.receiveMessage().status == 502)
    #expect(ends(journal) == ["a end internal"])
    #expect(gateway.metric("turnout_upstream_failures_total", "kind=\"malformed\"") == 1)
  }

  @Test func nobodyListensAtTheUpstream() throws {
    let journal = Journal()
    var rest: ScriptedUpstream? = try ScriptedUpstream()
    let gateway = try gateway(rest, nil, journal)
    rest = nil
    #expect(try gateway.client().ask("GET", "/v1/crates/7").status == 503)
    #expect(ends(journal) == ["a end unavailable"])
    // Once more on a fresh connection, not for ever.
    #expect(gateway.metric("turnout_upstream_connect_failures_total") == 2)
  }
}
