import Bytes
import Compression
import Testing

@testable import Gateway

/// The copy of a call in stage shadow.
@Suite struct ShadowTests {
  private let shadowed = ["methods: { Get: { stage: shadow } }"]

  @Test func outlivesTheCallerAndIsCounted() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, shadowed))
    var client: RawClient? = try gateway.client()
    client?.request("GET", "/v1/crates/7")
    let backend = try rest.accept()
    let copy = try rpc.accept()
    #expect(try backend.receiveMessage().startLine == "GET /v1/crates/7 HTTP/1.1")
    let asked = try copy.receiveMessage()
    #expect(asked.startLine == "POST /depot.v1.CrateService/Get HTTP/1.1")
    #expect(asked.text == #"{"id":"7"}"#)
    backend.answer(json: #"{"id":"rest"}"#)
    #expect(try client?.receiveMessage().text == #"{"id":"rest"}"#)
    client = nil
    try gateway.waitUntil { worker in worker.connections.allSatisfy { $0 == nil } }
    #expect(try gateway.onLoop { $0.shadows.count } == 1)
    #expect(gateway.metric("turnout_shadow_total") == 0)
    copy.answer(json: #"{"id":"rpc"}"#)
    gateway.waitFor("turnout_shadow_total", "outcome=\"mismatch\"", toBe: 1)
    #expect(try gateway.onLoop { $0.shadows.isEmpty })
    #expect(gateway.metric("turnout_shadow_total") == 1)
    // The copy is no call.
    #expect(gateway.metric("turnout_requests_total") == 1)
    #expect(gateway.metric("turnout_requests_total", "side=\"rest\"", "stage=\"shadow\"") == 1)
  }

  /// The caller's leaving cancels the attempt that answers, and that one alone.
  @Test func goesOnWhenTheCallIsCancelled() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, shadowed))
    var client: RawClient? = try gateway.client()
    client?.request("GET", "/v1/crates/7")
    let backend = try rest.accept()
    let copy = try rpc.accept()
    client = nil
    #expect(backend.waitForEnd() == .closed)
    gateway.waitFor("turnout_shadow_skipped_total", "reason=\"unanswered\"", toBe: 1)
    #expect(try gateway.onLoop { $0.shadows.count } == 1)
    _ = try copy.receiveMessage()
    copy.answer(json: "{}")
    try gateway.waitUntil { $0.shadows.isEmpty }
    #expect(gateway.metric("turnout_shadow_total") == 1)
    #expect(gateway.metric("turnout_buffered_bytes") == 0)
  }

  /// A backend that needs no body answers before it is there: nothing can be copied, and nothing stays behind.
  @Test func anAnswerBeforeTheWholeRequestGivesTheShadowUp() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: rpc, ["methods: { Get: { stage: shadow, shadow: { max_in_flight: 1 } } }"]))
    for number in 1...3 {
      let client = try gateway.client()
      client.send("GET /v1/crates/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabcde")
      let backend = try rest.accept()
      #expect(backend.receive(until: "abcde").contains("GET /v1/crates/7"))
      backend.answer(json: "{}")
      #expect(try client.receiveMessage().text == "{}")
      gateway.waitFor("turnout_shadow_skipped_total", "reason=\"unanswered\"", toBe: Double(number))
    }
    #expect(gateway.metric("turnout_buffered_bytes") == 0)
    let client = try gateway.client()
    client.request("GET", "/v1/crates/8")
    let (backend, copy) = (try rest.accept(), try rpc.accept())
    #expect(try copy.receiveMessage().text == #"{"id":"8"}"#)
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().text == "{}")
  }

  /// What both answers take when they are plain is given back once they are compared; and that there is no room for it
  /// is no difference.
  @Test(arguments: [(100, "turnout_shadow_total", "outcome=\"match\""), (60_000, skips, "reason=\"buffers\"")])
  func compressedAnswersAreComparedAndLeaveNothingBehind(size: Int, counter: String, label: String) throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let limits = ["limits: { message: 100KiB, buffers: 100KiB }"]
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, shadowed, more: limits))
    var compressed = ByteBuffer()
    let answer = #"{"id":"\#(String(repeating: "a", count: size))"}"#
    try Compressor.compress(Array(answer.utf8).span, as: .gzip, into: &compressed)
    let body = compressed.bytes
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    for peer in [try rest.accept(), try rpc.accept()] {
      _ = try peer.receiveMessage()
      let fields = "content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: \(body.count)"
      peer.send(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + body)
    }
    #expect(client.receive(through: "\r\n\r\n")?.contains("content-encoding: gzip") == true)
    gateway.waitFor(counter, label, toBe: 1)
    #expect(gateway.metric("turnout_shadow_total") == 1)
    #expect(gateway.metric("turnout_buffered_bytes") == 0)
  }

  private static let skips = "turnout_shadow_skipped_total"

  @Test func delaysAndSpoilsNothing() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, shadowed))
    let client = try gateway.client()
    var backend: RawClient?
    var copies: [RawClient] = []
    for number in 1...3 {
      // No copy is answered, and the calls are.
      client.request("GET", "/v1/crates/\(number)")
      if backend == nil { backend = try rest.accept() }
      _ = try backend?.receiveMessage()
      copies.append(try rpc.accept())
      backend?.answer(json: "{}")
      #expect(try client.receiveMessage().text == "{}")
    }
    #expect(try gateway.onLoop { $0.shadows.count } == 3)
    copies.removeAll()
    gateway.waitFor("turnout_shadow_total", "outcome=\"error\"", toBe: 3)
    #expect(gateway.metric("turnout_requests_total", "code=\"ok\"") == 3)
  }

  @Test func anErrorOfTheOtherSideIsAMismatch() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, shadowed))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    let (backend, copy) = (try rest.accept(), try rpc.accept())
    _ = try copy.receiveMessage()
    copy.answer(404, json: #"{"code":"not_found"}"#)
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    gateway.waitFor("turnout_shadow_total", "outcome=\"mismatch\"", toBe: 1)
  }

  /// What the flip would break is a difference, and nothing to the caller.
  @Test func aCallThatTranslationRefuses() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, shadowed))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7?unknown=1")
    let backend = try rest.accept()
    #expect(try backend.receiveMessage().startLine == "GET /v1/crates/7?unknown=1 HTTP/1.1")
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    gateway.waitFor("turnout_shadow_total", "outcome=\"mismatch\"", toBe: 1)
    #expect(!rpc.isAsked())
  }

  @Test func aCallThatMayChangeSomethingIsSkipped() throws {
    let (rest, rpc) = (try ScriptedUpstream(), try ScriptedUpstream())
    let gateway = try TestGateway(Depot.configuration(rest: rest, rpc: rpc, ["stage: shadow"]))
    let client = try gateway.client()
    client.request("POST", "/v1/crates", body: "{}")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    #expect(gateway.metric("turnout_shadow_total", "outcome=\"skipped\"") == 1)
    #expect(gateway.metric("turnout_shadow_skipped_total", "reason=\"unsafe\"") == 1)
    #expect(!rpc.isAsked())
  }
}
