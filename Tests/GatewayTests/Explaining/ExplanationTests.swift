import Testing

@testable import Gateway

/// What `turnout explain` says; nobody is called.
@Suite struct ExplanationTests {
  private func explain(
    _ settings: [String], _ method: String, _ target: String, _ fields: [(name: String, value: String)] = [],
    body: String? = nil, more: String = ""
  ) throws -> String {
    let snapshot = try #require(try Compiled(text: try Compiled(settings).text + more).snapshot)
    let request = ExplainedRequest(method: method, target: target, fields: fields, body: body.map { Array($0.utf8) })
    return try Explanation.explain(request, in: snapshot).get()
  }

  /// The line begins with the label, and holds the rest somewhere.
  private func has(_ text: String, _ label: String, _ rest: String) -> Bool {
    text.split(separator: "\n").contains { line in
      (label.isEmpty ? line.hasPrefix(" ") : line.hasPrefix("\(label) ")) && line.contains(rest)
    }
  }

  @Test func aTranslatedCall() throws {
    let text = try explain(
      ["stage: rpc"], "GET", "/v1/crates/a%20b", [("authorization", "Bearer s3cr3t"), ("x-tenant", "t1")])
    #expect(has(text, "request", "GET /v1/crates/a%20b"))
    #expect(has(text, "route", "depot.v1.CrateService/Get"))
    #expect(has(text, "face", "rest, GET /v1/crates/{id}"))
    #expect(has(text, "value", "id = \"a b\" from the path"))
    #expect(has(text, "stage", "rpc: the rpc side answers"))
    #expect(has(text, "upstream", "depot (connect) at http://127.0.0.1:2"))
    #expect(has(text, "sent", "POST /depot.v1.CrateService/Get"))
    #expect(has(text, "", "x-tenant: t1"))
    #expect(has(text, "", "authorization: (hidden)"))
    #expect(!text.contains("s3cr3t"))
    #expect(has(text, "body", #"{"id":"a b"}"#))
  }

  /// The place is that of the decision: on its left the rest side answers, on its right the rpc side.
  @Test func whereTheCallerOfACanaryStands() throws {
    let canary = "stage: canary"
    func settings(_ percent: String) -> [String] {
      [canary, "canary: { percent: \(percent), sticky_by: [\"header:x-user-id\", \"cookie:sid\"] }"]
    }
    let user = [(name: "x-user-id", value: "7")]
    let text = try explain(settings("50%"), "GET", "/v1/crates/a", user)
    #expect(has(text, "because", "the first that is there of header:x-user-id, cookie:sid, else its address"))
    let found = try #require(text.firstMatch(of: /because +this caller stands at ([0-9.]+)% of all/))
    let place = Int((try #require(Double(found.1)) * 100).rounded())
    for (hundredths, side) in [(place, "rest"), (place + 1, "rpc")] {
      let share = "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10)%"
      let text = try explain(settings(share), "GET", "/v1/crates/a", user)
      #expect(has(text, "stage", "canary: the \(side) side answers"), "\(share)")
    }
    let rules = "canary: { percent: 0%, rules: [{ when: { header: x-user-id, equals: \"7\" }, use: rpc }] }"
    #expect(has(try explain([canary, rules], "GET", "/v1/crates/a", user), "because", "a rule of `canary` says so"))
    #expect(!(try explain(["stage: rpc"], "GET", "/v1/crates/a", user)).contains("because"))
  }

  @Test func aCallThatPasses() throws {
    let text = try explain([], "POST", "/v1/crates", body: #"{"id":"7"}"#)
    #expect(has(text, "sent", "POST /v1/crates"))
    #expect(has(text, "upstream", "legacy (rest) at http://127.0.0.1:1"))
    #expect(has(text, "", "the body as it is"))
  }

  @Test func aConnectCallBeforeARESTBackend() throws {
    let text = try explain([], "POST", "/depot.v1.CrateService/Seal", body: #"{"id":"7"}"#)
    #expect(has(text, "face", "connect, /depot.v1.CrateService/Seal"))
    #expect(has(text, "sent", "POST /v1/crates/7:seal"))
  }

  @Test(arguments: ["grpc", "grpc+proto", "grpc-web+proto", "grpc-web-text", "grpc+json", "proto", "json"])
  func anRPCCallInAnyCodecIsGivenInJSON(type: String) throws {
    let fields = [(name: "Content-Type", value: "application/\(type)")]
    let sides: [(settings: [String], sent: String)] = [
      ([], "POST /v1/crates/7:seal"), (["stage: rpc"], "POST /depot.v1.CrateService/Seal"),
    ]
    for (settings, expected) in sides {
      let text = try explain(settings, "POST", "/depot.v1.CrateService/Seal", fields, body: #"{"id":"7"}"#)
      #expect(has(text, "sent", expected), "\(text)")
      let face = type.hasPrefix("grpc-web") ? "grpc_web" : type.hasPrefix("grpc") ? "grpc" : "connect"
      #expect(has(text, "face", "\(face), /depot.v1.CrateService/Seal"))
      // What passes is not looked into.
      if type.hasSuffix("json"), !settings.isEmpty { continue }
      let wrong = try explain(settings, "POST", "/depot.v1.CrateService/Seal", fields, body: #"{"id":7"#)
      #expect(has(wrong, "answer", "no upstream is asked") && !wrong.contains("\nsent"), "\(wrong)")
      #expect(wrong.contains("invalid_argument"), "\(wrong)")
    }
  }

  @Test func aGRPCCallWithoutAMessageHasAnEmptyOne() throws {
    let text = try explain(
      ["stage: rpc"], "POST", "/depot.v1.CrateService/Seal", [(name: "content-type", value: "application/grpc")])
    #expect(has(text, "sent", "POST /depot.v1.CrateService/Seal"))
  }

  @Test func theCopyIsTold() throws {
    let text = try explain(["methods: { Get: { stage: shadow, shadow: { sample: 2.5% } } }"], "GET", "/v1/crates/7")
    #expect(has(text, "copy", "2.5% of the calls go to the rpc side (depot) too"), "\(text)")
    let unsafe = try explain(["stage: rpc", "shadow: { back: true }"], "POST", "/v1/crates", body: #"{"id":"7"}"#)
    #expect(has(unsafe, "copy", "none to the rest side (legacy): the method may have side effects"), "\(unsafe)")
    #expect(!has(try explain([], "GET", "/v1/crates/7"), "copy", ""))
  }

  @Test func whatIsRefused() throws {
    let query = try explain(["stage: rpc"], "GET", "/v1/crates/7?nope=1")
    #expect(has(query, "answer", "400, no upstream is asked"))
    #expect(has(query, "body", "nope"))
    #expect(!has(query, "sent", ""))
    #expect(has(try explain([], "GET", "/elsewhere"), "answer", "404, no upstream is asked"))
    #expect(has(try explain([], "GET", "/elsewhere"), "route", "none"))
    #expect(has(try explain([], "GET", "/elsewhere", more: "fallback: legacy\n"), "sent", "GET /elsewhere"))
    #expect(has(try explain([], "GET", "no-slash"), "answer", "400"))
    #expect(has(try explain(["stage: rpc"], "POST", "/v1/crates", body: "{"), "answer", "400"))
  }

  @Test func aCopyIsNotSent() throws {
    let rpc = try ScriptedUpstream()
    let text = try Compiled(["methods: { Get: { stage: shadow } }"]).text.replacing(
      "http://127.0.0.1:2", with: rpc.endpoint)
    let snapshot = try #require(try Compiled(text: text).snapshot)
    let said = try Explanation.explain(ExplainedRequest(method: "GET", target: "/v1/crates/7"), in: snapshot).get()
    #expect(has(said, "stage", "shadow: the rest side answers"))
    #expect(has(said, "sent", "GET /v1/crates/7"))
    #expect(!rpc.isAsked(within: 100))
  }

  @Test func controlBytesAreEscaped() throws {
    let text = try explain([], "GET", "/v1/crates/a%1B%5B31m%0Ab")
    #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
    #expect(has(text, "value", "a\\u{1b}[31m\\nb"))
  }

  /// A head that `serve` refuses is refused here too.
  @Test(arguments: [
    [("content-length", "5"), ("Content-Length", "6")], [("content-length", "5"), ("transfer-encoding", "chunked")],
    [("content-length", "05")], [("content-length", "5, 6")], [("transfer-encoding", "gzip")],
    [("host", "a"), ("host", "b")],
  ])
  func aHeadThatNoClientMaySend(fields: [(String, String)]) throws {
    let given = fields.map { (name: $0.0, value: $0.1) }
    for body in [nil, #"{"id":"7"}"#] {
      let text = try explain([], "POST", "/v1/crates", given, body: body)
      #expect(has(text, "answer", "no upstream is asked") && !text.contains("\nsent"), "\(text)")
    }
  }

  /// What was typed with another body, or copied from a request with one.
  @Test func aLengthThatIsNotThatOfTheBody() throws {
    for fields in [[(name: "content-length", value: "99")], [(name: "transfer-encoding", value: "chunked")]] {
      let text = try explain([], "POST", "/v1/crates", fields, body: #"{"id":"7"}"#)
      #expect(has(text, "sent", "POST /v1/crates"), "\(text)")
      #expect(has(text, "", "the body as it is"), "\(text)")
    }
  }

  @Test func theMarkOfACopyIsNotPassedOn() throws {
    let text = try explain(
      [], "GET", "/v1/crates/7", [("x-turnout-shadow", "1"), ("X_Turnout-Shadow", "1"), ("x-tenant", "a")])
    #expect(!text.lowercased().contains("shadow: 1"), "\(text)")
    #expect(has(text, "", "x-tenant: a"))
  }
}
