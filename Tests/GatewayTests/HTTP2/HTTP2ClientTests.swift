import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import RPC
import Testing

@testable import Gateway

/// Clients with HTTP/2 before a backend with HTTP/1.1.
@Suite struct HTTP2ClientTests {
  @Test func streamsAreCallsOfTheirOwn() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.http2()
    let first = try client.request(.get, "/v1/crates/1")
    let one = try rest.accept()
    #expect(try one.receiveMessage().startLine == "GET /v1/crates/1 HTTP/1.1")
    let second = try client.request(.post, "/v1/crates", contentLength: 2, hasBody: true)
    client.peer.send("{}", on: second)
    client.peer.session.end(second, trailers: nil)
    client.flush()
    let two = try rest.accept()
    let message = try two.receiveMessage()
    #expect(message.startLine == "POST /v1/crates HTTP/1.1" && message.text == "{}")
    try gateway.waitUntil { worker in worker.connections.compactMap(\.self).map(\.calls.count) == [2] }
    // The second is answered before the first.
    two.answer(201, json: #"{"id":"2"}"#)
    #expect(client.answer(second) == (201, #"{"id":"2"}"#))
    one.answer(json: #"{"id":"1"}"#)
    #expect(client.answer(first) == (200, #"{"id":"1"}"#))
    #expect(gateway.metric("turnout_connections", "http2") == 1)
    #expect(gateway.metric("turnout_connections", "http1") == 0)
  }

  @Test func aCallThatWaitsHoldsNobodyUp() throws {
    let rest = try ScriptedUpstream()
    let waiting = JournalInterceptor(name: "a", journal: Journal()) { call in
      call.head.targetText.hasSuffix("/slow") ? .wait : .proceed
    }
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil), interceptors: [waiting])
    let client = try gateway.http2()
    let slow = try client.request(.post, "/v1/crates/slow", hasBody: true)
    client.peer.send("ignored until the verdict", on: slow)
    let quick = try client.request(.get, "/v1/crates/quick")
    let backend = try rest.accept()
    #expect(try backend.receiveMessage().startLine == "GET /v1/crates/quick HTTP/1.1")
    backend.answer(json: "{}")
    #expect(client.answer(quick).status == 200)
    _ = try gateway.onLoop { worker in
      for connection in worker.connections {
        for call in connection?.calls ?? [] { call.resume(.refuse(RPCError(.permissionDenied, "no"))) }
      }
    }
    #expect(client.answer(slow).status == 403)
    #expect(client.peer.closes[slow.id] == .noError)
  }

  @Test func idleConnectionsHoldNoBuffers() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let clients = try (0..<3).map { _ in try gateway.http2() }
    var backend: RawClient?
    for client in clients {
      let stream = try client.request(.post, "/v1/crates", hasBody: true)
      client.peer.send("{}", on: stream)
      client.peer.session.end(stream, trailers: nil)
      client.flush()
      if backend == nil { backend = try rest.accept() }
      _ = try backend?.receiveMessage()
      backend?.answer(json: "{}")
      #expect(client.answer(stream).status == 200)
    }
    try gateway.waitUntil { worker in
      let connections = worker.connections.compactMap(\.self)
      return connections.count == 3 && connections.allSatisfy { $0.calls.isEmpty && $0.bufferCapacity == 0 }
    }
  }

  @Test func aSlowReaderStopsItsStreamAlone() throws {
    let much = 64 << 20
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    var settings = HTTP2Settings()
    settings.streamWindow = 100_000
    let client = try gateway.http2(settings)
    client.peer.reads = false
    let slow = try client.request(.get, "/v1/crates/slow")
    let big = try rest.accept(sendBuffer: 64 << 10)
    _ = try big.receiveMessage()
    big.send("HTTP/1.1 200 OK\r\ncontent-length: \(much)\r\n\r\n")
    let taken = big.sendWhileTaken([UInt8](repeating: 0x61, count: 256 << 10), limit: much)
    #expect(taken > 0 && taken < 16 << 20)
    client.wait { _ in slow.input.count == 100_000 }
    let held = try gateway.onLoop { worker in worker.connections.compactMap(\.self).map(\.bufferCapacity) }
    #expect(held.count == 1 && held.allSatisfy { $0 < 4 << 20 })
    client.peer.reads = true
    let quick = try client.request(.get, "/v1/crates/quick")
    let small = try rest.accept()
    _ = try small.receiveMessage()
    small.answer(json: "{}")
    #expect(client.answer(quick).status == 200)
    #expect(slow.input.count == 100_000)
    // Nothing is lost of what waits.
    client.peer.take(slow)
    client.wait { _ in (client.peer.bodies[slow.id] ?? []).count == taken }
  }

  @Test func drainingSaysSoAndWaits() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil).replacing("drain: 100ms", with: "drain: 20s"))
    let client = try gateway.http2()
    let idle = try gateway.http2()
    idle.wait { _ in idle.peer.session.peerMaximumStreams == 128 }
    let stream = try client.request(.get, "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    gateway.running.drain()
    client.wait { $0.session.peerGoesAway }
    idle.wait { $0.session.peerGoesAway }
    #expect(client.events == ["goaway NO_ERROR"] && idle.events == ["goaway NO_ERROR"])
    backend.answer(json: "{}")
    #expect(client.answer(stream).status == 200)
    #expect(client.raw.waitForEnd() == .closed)
    gateway.running.waitUntilEnded()
  }

  @Test func aClientThatLeavesCancelsAllItsCalls() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    var backends: [RawClient] = []
    do {
      let client = try gateway.http2()
      for number in 0..<3 {
        _ = try client.request(.get, "/v1/crates/\(number)")
        backends.append(try rest.accept())
        _ = try backends.last?.receiveMessage()
      }
    }
    for backend in backends { #expect(backend.waitForEnd() == .closed) }
    try gateway.waitUntil { worker in worker.connections.allSatisfy { $0 == nil } }
    gateway.waitFor("turnout_requests_total", "code=\"canceled\"", toBe: 3)
    #expect(gateway.metric("turnout_connections", "http2") == 0)
  }

  @Test func aPrefaceInPieces() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let raw = try gateway.client()
    let peer = try #require(Peer(.client))
    let bytes = peer.output()
    for byte in bytes.prefix(30) {
      raw.send([byte])
    }
    raw.send(Array(bytes.dropFirst(30)))
    peer.receive(raw.receiveSome())
    gateway.waitFor("turnout_connections", "http2", toBe: 1)
  }
}
