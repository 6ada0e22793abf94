import Bytes
import Testing

@testable import Gateway

/// What connections hold, and what a slow side may make the gateway hold.
@Suite struct MemoryTests {
  /// Far more than the kernel keeps between client and backend.
  private static let much = 96 << 20
  /// Of which the kernel, on both sides of the gateway, and the gateway may hold this.
  private static let bound = 32 << 20
  private static let block = [UInt8](repeating: 0x61, count: 256 << 10)

  @Test func idleConnectionsHoldNoBuffers() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let clients = try (0..<5).map { _ in try gateway.client() }
    var backend: RawClient?
    for client in clients {
      client.request("POST", "/v1/crates", body: "{}")
      if backend == nil { backend = try rest.accept() }
      _ = try backend?.receiveMessage()
      backend?.answer(json: "{}")
      _ = try client.receiveMessage()
    }
    try gateway.waitUntil { worker in
      let connections = worker.connections.compactMap(\.self)
      return connections.count == 5
        && connections.allSatisfy { $0.calls.isEmpty && $0.bufferCapacity == 0 }
    }
    // Half a head is something to hold, and only for whom it came from.
    clients[2].send("GET /v1/cra")
    try gateway.waitUntil { worker in
      worker.connections.filter { ($0?.bufferCapacity ?? 0) > 0 }.count == 1
    }
    clients[2].send("tes/7 HTTP/1.1\r\nhost: a\r\n\r\n")
    #expect(try backend?.receiveMessage().startLine == "GET /v1/crates/7 HTTP/1.1")
    backend?.answer(json: "{}")
    #expect(try clients[2].receiveMessage().status == 200)
    try gateway.waitUntil { worker in worker.connections.allSatisfy { ($0?.bufferCapacity ?? 0) == 0 } }
  }

  @Test func aSlowReaderStopsTheUpstream() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client(receiveBuffer: 64 << 10)
    client.request("GET", "/v1/crates/7")
    let backend = try rest.accept(sendBuffer: 64 << 10)
    _ = try backend.receiveMessage()
    backend.send("HTTP/1.1 200 OK\r\ncontent-length: \(Self.much)\r\n\r\n")
    let taken = backend.sendWhileTaken(Self.block, limit: Self.much)
    #expect(taken > 0 && taken < Self.bound)
    // Nothing is lost: the client gets every byte that was taken.
    #expect(try client.receiveHead().status == 200)
    var received = 0
    while received < taken {
      let count = client.receive(count: min(1 << 20, taken - received)).count
      if count == 0 { break }
      received += count
    }
    #expect(received == taken)
    // And there is room again.
    #expect(backend.sendWhileTaken(Self.block, limit: 1 << 20) > 0)
  }

  @Test func aSlowUpstreamStopsTheClient() throws {
    let rest = try ScriptedUpstream(receiveBuffer: 64 << 10)
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    client.request("POST", "/v1/crates", ["content-length: \(Self.much)"])
    let backend = try rest.accept()
    #expect(try backend.receiveHead()["content-length"] == "\(Self.much)")
    let taken = client.sendWhileTaken(Self.block, limit: Self.much)
    #expect(taken > 0 && taken < Self.bound)
    var received = 0
    while received < taken {
      let count = backend.receive(count: min(1 << 20, taken - received)).count
      if count == 0 { break }
      received += count
    }
    #expect(received == taken)
    #expect(client.sendWhileTaken(Self.block, limit: 1 << 20) > 0)
  }

  /// What a client sends ahead of its answer waits in the kernel.
  @Test func requestsSentAheadAreBounded() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    let ahead = Array("GET /v1/crates/2 HTTP/1.1\r\nhost: gateway.test\r\n\r\n".utf8)
    let taken = client.sendWhileTaken(
      [[UInt8]](repeating: ahead, count: 4096).flatMap(\.self), limit: Self.much)
    #expect(taken < Self.bound)
    let held = try gateway.onLoop { worker in
      worker.connections.reduce(0) { $0 + (($1 as? ClientConnection)?.input.count ?? 0) }
    }
    #expect(held <= 128 << 10)
    for _ in 0..<3 {
      backend.answer(json: "{}")
      #expect(try client.receiveMessage().status == 200)
      #expect(try backend.receiveMessage().startLine == "GET /v1/crates/2 HTTP/1.1")
    }
  }

  @Test func aMessageThatIsTranslatedIsBounded() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"], more: ["limits: { message: 1KiB }"]))
    let large = "{\"id\":\"\(String(repeating: "x", count: 2000))\"}"
    // Told by its length before a byte is read, or when it has become too much.
    #expect(try gateway.client().ask("POST", "/v1/crates", body: large).status == 413)
    let chunked = try gateway.client()
    chunked.request("POST", "/v1/crates", ["content-type: application/json", "transfer-encoding: chunked"])
    chunked.send("\(String(large.utf8.count, radix: 16))\r\n\(large)\r\n0\r\n\r\n")
    #expect(try chunked.receiveMessage().status == 413)
    #expect(!rpc.isAsked())
    #expect(gateway.metric("turnout_buffered_bytes") == 0)
  }

  @Test func beyondTheBudgetOfAllCallsIs503() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(
      Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"], more: ["limits: { message: 1KiB, buffers: 1KiB }"]))
    let body = "{\"id\":\"\(String(repeating: "x", count: 600))\"}"
    let first = try gateway.client()
    first.request("POST", "/v1/crates", body: body)
    let backend = try rpc.accept()
    _ = try backend.receiveMessage()
    #expect(gateway.metric("turnout_buffered_bytes") == Double(body.utf8.count))
    let second = try gateway.client().ask("POST", "/v1/crates", body: body)
    #expect(second.status == 503)
    #expect(second["retry-after"] == "1")
    backend.answer(json: "{}")
    #expect(try first.receiveMessage().status == 200)
    #expect(gateway.metric("turnout_buffered_bytes") == 0)
  }

  @Test func theBudgetGivesWhatIsThereAndTakesItBack() {
    let budget = BufferBudget()
    #expect(budget.reserve(60, limit: 100))
    #expect(!budget.reserve(41, limit: 100))
    #expect(budget.bytes == 60)
    #expect(budget.reserve(40, limit: 100))
    #expect(!budget.reserve(1, limit: 100))
    budget.release(100)
    budget.release(0)
    #expect(budget.bytes == 0)
    // A smaller limit after a reload.
    #expect(budget.reserve(10, limit: 10))
    #expect(!budget.reserve(1, limit: 5))
  }
}
