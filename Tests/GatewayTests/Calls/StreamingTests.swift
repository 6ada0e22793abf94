import Bytes
import RPC
import Testing

@testable import Gateway

/// A server-streaming Connect call, passed on message by message.
@Suite struct StreamingTests {
  private func enveloped(_ json: String, flags: UInt8 = 0) -> [UInt8] {
    var output = ByteBuffer()
    EnvelopeHead(flags: flags, length: json.utf8.count).write(into: &output)
    return output.bytes + Array(json.utf8)
  }

  private func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  private func open(_ client: RawClient, _ rpc: ScriptedUpstream) throws -> RawClient {
    let request = enveloped(#"{"id":"7"}"#)
    client.send(
      "POST /depot.v1.CrateService/Watch HTTP/1.1\r\nhost: gateway.test\r\nconnect-protocol-version: 1\r\n"
        + "content-type: application/connect+json\r\ncontent-length: \(request.count)\r\n\r\n")
    client.send(request)
    let backend = try rpc.accept()
    let asked = try backend.receiveMessage()
    #expect(asked.startLine == "POST /depot.v1.CrateService/Watch HTTP/1.1")
    #expect(asked["content-type"] == "application/connect+json")
    #expect(asked.body == request)
    backend.send(
      "HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n")
    #expect(try client.receiveHead()["content-type"] == "application/connect+json")
    return backend
  }

  /// Clients leave when they have read the end of stream, before the HTTP message that carries it has ended.
  @Test(arguments: [("{}", "ok"), (#"{"error":{"code":"data_loss"}}"#, "data_loss")])
  func aClientMayLeaveAfterTheEndOfStream(end: String, code: String) throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]))
    var client: RawClient? = try gateway.client()
    let backend = try open(try #require(client), rpc)
    backend.send(chunk(enveloped(end, flags: 2)))
    #expect(try client?.receiveChunk() == enveloped(end, flags: 2))
    client = nil
    gateway.waitFor("turnout_requests_total", "code=\"\(code)\"", toBe: 1)
    #expect(gateway.metric("turnout_requests_total") == 1)
  }

  @Test func everyMessageIsPassedOnWhenItComes() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]))
    let client = try gateway.client()
    let backend = try open(client, rpc)
    for number in 1...3 {
      // The next one is not sent before the client has this one.
      let message = enveloped(#"{"id":"\#(number)"}"#)
      backend.send(chunk(message))
      #expect(try client.receiveChunk() == message)
    }
    let end = enveloped("{}", flags: 2)
    backend.send(chunk(end) + Array("0\r\n\r\n".utf8))
    #expect(try client.receiveChunk() == end)
    #expect(try client.receiveChunk() == nil)
    gateway.waitFor("turnout_requests_total", "code=\"ok\"", toBe: 1)
    // Both connections go on.
    client.request("POST", "/depot.v1.CrateService/Create", body: "{}")
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
  }

  @Test func anErrorAtTheEndOfTheStreamIsCounted() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]))
    let client = try gateway.client()
    let backend = try open(client, rpc)
    let end = enveloped(#"{"error":{"code":"resource_exhausted","message":"full"}}"#, flags: 2)
    // Cut in the middle of its head: the gateway puts it together to know it, and passes it on as it is.
    backend.send(chunk(Array(end[..<3])))
    #expect(try client.receiveChunk() == Array(end[..<3]))
    backend.send(chunk(Array(end[3...])) + Array("0\r\n\r\n".utf8))
    #expect(try client.receiveChunk() == Array(end[3...]))
    #expect(try client.receiveChunk() == nil)
    gateway.waitFor("turnout_requests_total", "code=\"resource_exhausted\"", toBe: 1)
    #expect(gateway.metric("turnout_requests_total") == 1)
  }

  @Test func aStreamThatBreaksBetweenMessagesEndsWithAnError() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]))
    let client = try gateway.client()
    var backend: RawClient? = try open(client, rpc)
    backend?.send(chunk(enveloped(#"{"id":"1"}"#)))
    _ = try client.receiveChunk()
    backend = nil
    let end = try #require(try client.receiveChunk())
    #expect(end[0] == EnvelopeHead.endOfStream)
    #expect(String(decoding: end.dropFirst(5), as: UTF8.self).contains(#""code":"unavailable""#))
    #expect(try client.receiveChunk() == nil)
    gateway.waitFor("turnout_requests_total", "code=\"unavailable\"", toBe: 1)
  }

  @Test func aStreamThatBreaksInsideAMessageCutsTheConnection() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]))
    let client = try gateway.client()
    var backend: RawClient? = try open(client, rpc)
    backend?.send(chunk(Array(enveloped(#"{"id":"1"}"#).dropLast())))
    _ = try client.receiveChunk()
    backend = nil
    #expect(client.waitForEnd() == .reset)
    gateway.waitFor("turnout_requests_total", "code=\"unavailable\"", toBe: 1)
  }

  @Test func theCallersLeavingCancelsTheStream() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: nil, rpc: rpc, ["stage: rpc"]))
    var client: RawClient? = try gateway.client()
    let backend = try open(#require(client), rpc)
    client = nil
    #expect(backend.waitForEnd() == .closed)
    gateway.waitFor("turnout_requests_total", "code=\"canceled\"", toBe: 1)
  }

  @Test func aStreamIsNotTranslated() throws {
    let rest = try ScriptedUpstream()
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: nil))
    let request = enveloped("{}")
    let client = try gateway.client()
    client.send(
      "POST /depot.v1.CrateService/Watch HTTP/1.1\r\nhost: gateway.test\r\nconnect-protocol-version: 1\r\n"
        + "content-type: application/connect+json\r\ncontent-length: \(request.count)\r\n\r\n")
    client.send(request)
    let answer = try client.receiveMessage()
    #expect(answer.status == 200)
    #expect(answer.body.first == 2)
    #expect(answer.text.contains(#""code":"unimplemented""#))
    #expect(!rest.isAsked())
  }
}
