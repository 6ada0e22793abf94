import Bytes
import EventLoopsTestSupport
import RPC
import Testing

@testable import Gateway

@Suite struct AccessLogTests {
  private func gateway(
    _ rest: ScriptedUpstream?, _ rpc: ScriptedUpstream?, format: String, _ settings: [String] = [],
    more: [String] = []
  ) throws -> TestGateway {
    try TestGateway(
      Depot.configuration(
        rest: rest, rpc: rpc, settings,
        more: ["interceptors: [{ access_log: { format: \(format), path: access.log } }]"] + more))
  }

  /// The lines that are written when the gateway has ended.
  private func lines(_ gateway: TestGateway) throws -> [String] {
    gateway.end()
    return try gateway.folder.read("access.log").split(separator: "\n").map(String.init)
  }

  @Test func aLineSaysWhatACallDid() throws {
    let rest = try ScriptedUpstream()
    let gateway = try gateway(rest, nil, format: "json")
    let client = try gateway.client()
    client.request("POST", "/v1/crates", ["user-agent: test/1", "x-request-id: abc-1"], body: #"{"id":"7"}"#)
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(201, json: #"{"id":"7","weight":1}"#)
    #expect(try client.receiveMessage().status == 201)
    let written = try lines(gateway)
    #expect(written.count == 1)
    let line = try JSONValue(parsing: Array(try #require(written.first).utf8))
    let expected: [(String, JSONValue)] = [
      ("client", "127.0.0.1"), ("method", "POST"), ("route", "/v1/crates"), ("service", "depot.v1.CrateService"),
      ("procedure", "Create"), ("face", "rest"), ("stage", "rest"), ("side", "rest"), ("upstream", "legacy"),
      ("status", 201), ("code", "ok"), ("received", 10), ("sent", 21), ("user_agent", "test/1"),
      ("request_id", "abc-1"),
    ]
    for (name, value) in expected { #expect(line[name] == value, "\(name)") }
    #expect(line["error"] == nil)
    #expect(line["path"] == nil)
    #expect((line["duration_ms"]?.number ?? -1) >= 0)
    // RFC 3339 in UTC.
    let time = try #require(line["time"]?.text)
    #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil)
  }

  /// Neither the values in a path nor those of a query, nor the message of a Connect GET.
  @Test(arguments: ["json", "text"])
  func holdsNoIdentifiersQueriesAndSecrets(format: String) throws {
    let rest = try ScriptedUpstream()
    let gateway = try gateway(rest, nil, format: format, more: ["fallback: legacy"])
    let client = try gateway.client()
    let secret = "s3cr3t"
    var backend: RawClient?
    for target in [
      "/v1/crates/\(secret)?token=\(secret)", "/elsewhere?token=\(secret)",
      "/depot.v1.CrateService/Get?connect=v1&encoding=json&message=%7B%22id%22%3A%22\(secret)%22%7D",
    ] {
      client.request("GET", target, ["authorization: Bearer \(secret)", "cookie: a=\(secret)"])
      if backend == nil { backend = try rest.accept() }
      _ = try backend?.receiveMessage()
      backend?.answer(json: #"{"id":"\#(secret)"}"#)
      #expect(try client.receiveMessage().status == 200)
    }
    let written = try lines(gateway)
    #expect(written.count == 3)
    #expect(written.allSatisfy { !$0.contains(secret) })
    #expect(written[0].contains("/v1/crates/{id}"))
    #expect(written[1].contains("/elsewhere") && written[1].contains("(fallback)"))
    #expect(written[2].contains("/depot.v1.CrateService/Get"))
  }

  @Test(arguments: ["json", "text"])
  func whatComesFromOutsideIsEscaped(format: String) throws {
    let rest = try ScriptedUpstream()
    let gateway = try gateway(rest, nil, format: format, more: ["fallback: legacy"])
    let client = try gateway.client()
    // A byte that is no UTF-8, a tab, a quote, and what would end the line if it were decoded.
    client.send(
      Array("GET /a%0Ab HTTP/1.1\r\nhost: gateway.test\r\nuser-agent: a\"b\\c\td".utf8) + [0xFF]
        + Array("\r\n\r\n".utf8))
    let backend = try rest.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    #expect(try client.receiveMessage().status == 200)
    let written = try lines(gateway)
    #expect(written.count == 1)
    let line = try #require(written.first)
    #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F })
    #expect(line.contains("/a%0Ab"))
    if format == "json" {
      #expect(try JSONValue(parsing: Array(line.utf8))["user_agent"] == .string("a\"b\\c\td\u{FF}"))
    }
  }

  @Test func aFailedCallSaysWhy() throws {
    let rest = try ScriptedUpstream()
    for format in ["json", "text"] {
      let gateway = try gateway(rest, nil, format: format)
      let client = try gateway.client()
      client.request("GET", "/v1/crates/7")
      var backend: RawClient? = try rest.accept()
      _ = try backend?.receiveMessage()
      backend = nil
      let answer = try client.receiveMessage()
      let line = try #require(try lines(gateway).first)
      #expect(line.contains("unavailable"))
      // The endpoint is for the operator, and not for the caller.
      #expect(line.contains(":\(rest.port)"))
      #expect(!answer.text.contains("\(rest.port)"))
    }
  }

  @Test func theTextFormHasItsWordsInOrder() throws {
    let rpc = try ScriptedUpstream()
    let gateway = try gateway(nil, rpc, format: "text", ["stage: rpc"])
    let client = try gateway.client()
    client.request("GET", "/v1/crates/7")
    let backend = try rpc.accept()
    _ = try backend.receiveMessage()
    backend.answer(json: "{}")
    _ = try client.receiveMessage()
    let words = try #require(try lines(gateway).first).split(separator: " ").map(String.init)
    #expect(
      Array(words[1...10]) == [
        "127.0.0.1", "HTTP/1.1", "rest", "GET", "/v1/crates/{id}", "depot.v1.CrateService/Get", "rpc/rpc", "depot",
        "200", "ok",
      ])
    #expect(words[12] == "ms")
  }

  @Test(arguments: [
    ("plain é 🚀", "plain é 🚀"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u{0}\u{1B}[31m", "\\u{0}\\u{1b}[31m"),
    ("\u{7F}\u{85}\u{9F}\u{A0}", "\\u{7f}\\u{85}\\u{9f}\u{A0}"), ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
  ])
  func logTextIsOneHarmlessLine(text: String, expected: String) {
    var line = ByteBuffer()
    LogText.append(text, to: &line)
    #expect(String(decoding: line.bytes, as: UTF8.self) == expected)
  }
}
