import Bytes
import HTTP2
import HTTP2TestSupport
import HTTPModel
import Testing

@testable import Gateway

/// Upstreams with HTTP/2, played by our own session.
@Suite struct HTTP2UpstreamTests {
  private func configuration(_ rest: ScriptedUpstream, _ more: String = "") -> String {
    Depot.configuration(rest: rest, rpc: nil).replacing(
      "protocol: rest, ", with: "protocol: rest, http: \"2\", \(more)")
  }

  @Test func oneConnectionCarriesMany() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest))
    let clients = try (0..<3).map { _ in try gateway.client() }
    for (number, client) in clients.enumerated() { client.request("GET", "/v1/crates/\(number)") }
    let upstream = try HTTP2Peer(rest.accept(), .server)
    _ = try upstream.exchange(2)
    gateway.waitFor("turnout_upstream_connections", "state=\"active\"", toBe: 1)
    for stream in upstream.peer.streams.reversed() {
      upstream.answer(stream, json: "\"\(stream.request.targetText)\"")
    }
    for (number, client) in clients.enumerated() {
      #expect(try client.receiveMessage().text == "\"/v1/crates/\(number)\"")
    }
    #expect(!rest.isAsked())
    gateway.waitFor("turnout_upstream_connections", "state=\"idle\"", toBe: 1)
    gateway.waitFor("turnout_upstream_connections", "state=\"active\"", toBe: 0)
  }

  @Test func attemptsWaitForRoom() throws {
    var settings = HTTP2Settings()
    settings.maximumConcurrentStreams = 1
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest, "max_connections: 1, "))
    let clients = try (0..<3).map { _ in try gateway.client() }
    clients[0].request("GET", "/v1/crates/0")
    let upstream = try HTTP2Peer(rest.accept(), .server, settings)
    _ = try upstream.exchange(0)
    clients[1].request("GET", "/v1/crates/1")
    clients[2].request("GET", "/v1/crates/2")
    try gateway.waitUntil { worker in worker.connections.compactMap(\.self).flatMap(\.calls).count == 3 }
    #expect(upstream.peer.streams.count == 1)
    for number in 0..<3 {
      upstream.answer(try upstream.exchange(number), json: "{}")
      #expect(upstream.peer.faults.isEmpty)
    }
    for client in clients { #expect(try client.receiveMessage().status == 200) }
  }

  @Test func aGoAwayMovesWhatWasNotLookedAt() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest))
    let clients = try (0..<2).map { _ in try gateway.client() }
    clients[0].request("GET", "/v1/crates/0")
    let first = try HTTP2Peer(rest.accept(), .server)
    _ = try first.exchange(0)
    // It says so before it sees the second request.
    first.peer.session.goAway()
    clients[1].request("GET", "/v1/crates/1")
    first.flush()
    let second = try HTTP2Peer(rest.accept(), .server)
    second.answer(try second.exchange(0), json: "\"second\"")
    #expect(try clients[1].receiveMessage().text == "\"second\"")
    first.answer(first.peer.streams[0], json: "\"first\"")
    #expect(try clients[0].receiveMessage().text == "\"first\"")
    #expect(first.raw.waitForEnd() == .closed)
  }

  @Test func refusedOnceIsSentAgain() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/0")
    let upstream = try HTTP2Peer(rest.accept(), .server)
    upstream.peer.session.reset(try upstream.exchange(0), .refusedStream)
    upstream.flush()
    upstream.answer(try upstream.exchange(1), json: "{}")
    #expect(try client.receiveMessage().status == 200)
    client.request("GET", "/v1/crates/0")
    for number in 2...3 {
      upstream.peer.session.reset(try upstream.exchange(number), .refusedStream)
      upstream.flush()
    }
    #expect(try client.receiveMessage().status == 503)
  }

  @Test func trailersPassFromEndToEnd() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest))
    let client = try gateway.http2()
    let stream = try client.request(.post, "/v1/crates/1:seal", fields: [("te", "trailers")], hasBody: true)
    client.peer.session.end(stream, trailers: block([("x-asked", "a")]))
    client.flush()
    let upstream = try HTTP2Peer(rest.accept(), .server)
    let exchange = try upstream.exchange(0)
    #expect(exchange.trailers.text(of: "x-asked") == "a")
    #expect(exchange.request.fields.text(of: "te") == "trailers")
    upstream.peer.respond(exchange, 200)
    upstream.peer.session.end(exchange, trailers: block([("grpc-status", "0")]))
    upstream.flush()
    #expect(client.answer(stream).status == 200)
    #expect(stream.trailers.text(of: "grpc-status") == "0")
  }

  @Test func anAnswerThatWaitsSurvivesTheConnection() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(configuration(rest))
    var settings = HTTP2Settings()
    settings.streamWindow = 100_000
    let client = try gateway.http2(settings)
    client.peer.reads = false
    let slow = try client.request(.get, "/v1/crates/1")
    let size = 300_000
    do {
      let upstream = try HTTP2Peer(rest.accept(), .server)
      let exchange = try upstream.exchange(0)
      upstream.peer.respond(exchange, 200)
      upstream.peer.send([UInt8](repeating: 0x61, count: size), on: exchange)
      upstream.peer.session.end(exchange, trailers: nil)
      upstream.wait { $0.closes[exchange.id] == .noError }
    }
    client.wait { _ in slow.input.count == 100_000 }
    gateway.waitFor("turnout_upstream_connections", "legacy", toBe: 0)
    client.peer.reads = true
    client.peer.take(slow)
    #expect(client.answer(slow).status == 200)
    #expect(client.peer.bodies[slow.id]?.count == size)
  }
}
