import Testing

@testable import Gateway

@Suite struct TraceExporterTests {
  /// The collector takes the batch and never answers: at the end the spans are given up, and when the connection is closed
  /// a moment later the batch fails. Both times the same spans.
  @Test func spansThatAreGivenUpAreCountedOnce() throws {
    let (rest, collector) = (try ScriptedUpstream(), try ScriptedUpstream())
    let tracing = "{ exporter: { otlp: { endpoint: \"\(collector.endpoint)/v1/traces\", interval: 10ms } } }"
    let gateway = try TestGateway(
      Depot.configuration(rest: rest, rpc: nil, more: ["interceptors: [ { tracing: \(tracing) } ]"]))
    let client = try gateway.client()
    client.request("GET", "/v1/crates/1")
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    let taker = try collector.accept()
    #expect(try taker.receiveMessage().startLine == "POST /v1/traces HTTP/1.1")
    gateway.end()
    #expect(gateway.metric("turnout_trace_spans_total", "outcome=\"failed\"") == 2)
    #expect(gateway.metric("turnout_trace_spans_total") == 2)
  }
}
