import Dispatch
import Testing

@testable import Gateway

@Suite struct DrainTests {
  @Test func whatRunsFinishesAndNobodyElseComes() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil).replacing("drain: 100ms", with: "drain: 60s"))
    let (busy, idle) = (try gateway.client(), try gateway.client())
    let address = try #require(gateway.running.addresses.listeners.first)
    busy.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    try gateway.waitUntil { worker in worker.connections.compactMap(\.self).count == 2 }
    #expect(gateway.running.isReady)
    gateway.running.drain()
    #expect(!gateway.running.isReady)
    #expect(idle.waitForEnd() == .closed)
    #expect(throws: RawClient.NoConnection.self) { try RawClient(address) }
    backend.answer(json: "{}")
    let answer = try busy.receiveMessage()
    #expect(answer.text == "{}")
    #expect(answer["connection"] == "close")
    #expect(busy.waitForEnd() == .closed)
    gateway.running.waitUntilEnded()
  }

  /// Nothing is wrong with the file, and nobody is to look for it in the log.
  @Test func aReloadThatComesTooLateIsNoTrouble() throws {
    let rest = try ScriptedUpstream()
    let configuration = Depot.configuration(rest: rest, rpc: nil).replacing("drain: 100ms", with: "drain: 60s")
    let gateway = try TestGateway(configuration)
    let busy = try gateway.client()
    busy.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    _ = try gateway.reload("listeners: []")
    #expect(gateway.running.troubles.count == 1)
    _ = try gateway.reload(configuration)
    #expect(gateway.running.troubles.isEmpty)
    gateway.running.drain()
    guard case .failed = try gateway.reload(configuration) else { throw Unexpected() }
    #expect(gateway.running.troubles.isEmpty)
    backend.answer(json: "{}")
    #expect(try busy.receiveMessage().text == "{}")
    gateway.running.waitUntilEnded()
  }

  private struct Unexpected: Error {}

  @Test func aRequestThatHasArrivedIsAnswered() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil).replacing("drain: 100ms", with: "drain: 60s"))
    // The loop is held while the requests come: one on a new connection, one on an idle one.
    let known = try gateway.client()
    try gateway.waitUntil { worker in worker.connections.compactMap(\.self).count == 1 }
    let (held, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    gateway.running.onEachLoop { _ in
      held.signal()
      go.wait()
    }
    held.wait()
    let new = try gateway.client()
    known.request("GET", "/v1/crates/1")
    new.request("GET", "/v1/crates/2")
    gateway.running.drain()
    go.signal()
    for _ in 0..<2 {
      let backend = try rest.accept()
      _ = try backend.receiveMessage()
      backend.answer(json: "{}")
      _ = backend.waitForEnd()
    }
    for client in [known, new] { #expect(try client.receiveMessage()["connection"] == "close") }
    gateway.running.waitUntilEnded()
  }

  @Test func whatTakesTooLongIsCut() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    gateway.end()
    #expect(client.waitForEnd() != .silence)
    #expect(backend.waitForEnd() != .silence)
  }

  @Test func aTakenAdminPortLeavesNothingServing() throws {
    let rest = try ScriptedUpstream()
    let free = try RawListenerPort()
    let text = Depot.configuration(
      rest: rest, rpc: nil, more: ["admin: { address: \"127.0.0.1:\(rest.port)\" }"]
    ).replacing("127.0.0.1:0", with: "127.0.0.1:\(free.port)")
    #expect(throws: ProgramFailure.self) { try TestGateway(text) }
    #expect(throws: RawClient.NoConnection.self) { try RawClient(free.address) }
  }
}
