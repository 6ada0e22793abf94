import Testing

@testable import Gateway

/// A pooled connection that the backend closes at the moment that it is taken.
@Suite struct RetryTests {
  /// Leaves one pooled connection behind.
  private func warm(_ client: RawClient, _ upstream: ScriptedUpstream) throws -> RawClient {
    client.request("GET", "/v1/crates/1")
    let backend = try upstream.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    return backend
  }

  @Test func anIdempotentCallIsSentOnceMoreOnAFreshConnection() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    var stale: RawClient? = try warm(client, rest)
    client.request("GET", "/v1/crates/2")
    #expect(try stale?.receiveMessage().startLine == "GET /v1/crates/2 HTTP/1.1")
    stale = nil
    let fresh = try rest.accept()
    #expect(try fresh.receiveMessage().startLine == "GET /v1/crates/2 HTTP/1.1")
    fresh.answer(json: #"{"id":"2"}"#)
    #expect(try client.receiveMessage().text == #"{"id":"2"}"#)
    #expect(gateway.metric("turnout_requests_total", "code=\"ok\"") == 2)
  }

  @Test func butOnlyOnce() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    var backend: RawClient? = try warm(client, rest)
    client.request("GET", "/v1/crates/2")
    _ = try backend?.receiveMessage()
    backend = nil
    backend = try rest.accept()
    _ = try backend?.receiveMessage()
    backend = nil
    #expect(try client.receiveMessage().status == 502)
    #expect(!rest.isAsked())
  }

  /// A Connect caller is told the status of `unavailable`.
  @Test(arguments: [("/v1/crates", 502), ("/depot.v1.CrateService/Create", 503)])
  func aCallWithSideEffectsIsNot(target: String, status: Int) throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    var stale: RawClient? = try warm(client, rest)
    client.request("POST", target, body: "{}")
    #expect(try stale?.receiveMessage().startLine == "POST /v1/crates HTTP/1.1")
    stale = nil
    #expect(try client.receiveMessage().status == status)
    #expect(!rest.isAsked())
  }

  @Test func noCallIsWhoseAnswerHadBegun() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    var stale: RawClient? = try warm(client, rest)
    client.request("GET", "/v1/crates/2")
    _ = try stale?.receiveMessage()
    stale?.send("HTTP/1.1 2")
    stale = nil
    #expect(try client.receiveMessage().status == 502)
    #expect(!rest.isAsked())
  }

  @Test func aConnectionThatEndedWhileIdleIsNotTaken() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    var stale: RawClient? = try warm(client, rest)
    gateway.waitFor("turnout_upstream_connections", "state=\"idle\"", toBe: 1)
    stale = nil
    gateway.waitFor("turnout_upstream_connections", "state=\"idle\"", toBe: 0)
    client.request("POST", "/v1/crates", body: "{}")
    let fresh = try rest.accept()
    _ = try fresh.receiveMessage()
    fresh.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    withExtendedLifetime(stale) {}
  }

  @Test func aConnectionWithBytesAfterTheAnswerIsNotUsedAgain() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n\r\n")
    #expect(try client.receiveMessage().text == "{}")
    #expect(backend.waitForEnd() != .silence)
  }
}
