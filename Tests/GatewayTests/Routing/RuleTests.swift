import Configuration
import Diagnostics
import REST
import Testing

@testable import Gateway

/// HTTP rules from their three sources, and what is found wrong with them at load.
@Suite struct RuleTests {
  /// A configuration with a service configuration file beside it.
  private func compiled(
    _ serviceConfig: [String], _ settings: [String] = [], proto: String = Depot.proto, secrets: [String: String] = [:]
  ) throws -> Compiled {
    let text = try Compiled([]).text
    return try Compiled(
      text: text.replacing("import_paths: [.] }]", with: "import_paths: [.] }, { service_config: api.yaml }]")
        + settings.map { "    \($0)\n" }.joined(),
      proto: proto, files: secrets.merging(["api.yaml": serviceConfig.map { "\($0)\n" }.joined()]) { $1 })
  }

  private func rules(_ lines: String...) -> [String] { ["http:", "  rules:"] + lines.map { "  \($0)" } }

  private func templates(_ compiled: Compiled) -> [String: [String]] {
    var result: [String: [String]] = [:]
    for route in compiled.snapshot?.routes ?? [] {
      result[route.method] = zip(route.bindings, route.templates).map { "\($0.httpMethod) \($1)" }
    }
    return result
  }

  @Test func aServiceConfigurationReplacesAnnotations() throws {
    let compiled = try compiled(
      rules(
        "- selector: depot.v1.CrateService.Get", "  get: /v2/crates/{id}", "  additional_bindings:",
        "  - custom: { kind: FIND, path: \"/v2/crates/{id}\" }", "- selector: depot.v1.CrateService.Watch",
        "  get: /v2/watch/{id}"))
    #expect(compiled.errors.isEmpty)
    #expect(
      templates(compiled) == [
        "Get": ["GET /v2/crates/{id}", "FIND /v2/crates/{id}"], "Create": ["POST /v1/crates"],
        "Seal": ["POST /v1/crates/{id}:seal"], "Watch": ["GET /v2/watch/{id}"],
      ])
  }

  @Test func theConfigurationGoesBeforeAll() throws {
    let compiled = try compiled(
      rules("- { selector: depot.v1.CrateService.Get, get: \"/v2/crates/{id}\" }"),
      ["methods:", "  Get: { http: { get: \"/v3/crates/{id}\" } }"])
    #expect(compiled.errors.isEmpty)
    #expect(templates(compiled)["Get"] == ["GET /v3/crates/{id}"])
  }

  @Test func theLastSelectorWins() throws {
    let compiled = try compiled(
      rules(
        "- { selector: \"*\", get: \"/all\" }", "- { selector: \"depot.v1.*\", get: \"/package\" }",
        "- { selector: \"depot.v1.CrateService.Get, depot.v1.CrateService.Seal\", get: \"/two/{id}\" }",
        "- { selector: depot.v1.CrateService.Seal, post: \"/seal/{id}\" }",
        "- { selector: depot.v1.CrateService.Create, post: \"/create\", body: \"*\" }"))
    #expect(compiled.errors.isEmpty)
    #expect(
      templates(compiled) == [
        "Get": ["GET /two/{id}"], "Create": ["POST /create"], "Seal": ["POST /seal/{id}"], "Watch": ["GET /package"],
      ])
  }

  /// Lines of the file after `rules:`, what is said, and the place.
  @Test(
    arguments: [
      (
        "- { selector: depot.v1.CrateService.Gett, get: /x }",
        "the selector `depot.v1.CrateService.Gett` names no method of the schema; did you mean `depot.v1.CrateService.Get`?",
        17
      ),
      ("- { selector: Get, get: /x }", "did you mean `depot.v1.CrateService.Get`?", 17),
      ("- { selector: depot.v1.CrateServise.*, get: /x }", "did you mean `depot.v1.CrateService.*`?", 17),
      ("- { selector: other.*, get: /x }", "write `package.Service.Method`, or add its descriptors", 17),
      (
        "- { selector: \"depot.v1.CrateService.Get, depot.v1.Nope\", get: /x }", "`depot.v1.Nope` names no method", 45
      ),
      (
        "- { selector: depot.v1.CrateService.Get, get: \"/v1/{idd}\" }",
        "the rule GET /v1/{idd} is wrong at column 6: depot.v1.GetRequest has no field idd; did you mean id?", 55
      ),
      (
        "- { selector: depot.v1.CrateService.Get, get: \"/v1/{id/x\" }",
        "is wrong at column 8: / may not stand here", 57
      ),
      (
        "- { selector: depot.v1.CrateService.Get, get: \"/v1/x\", additional_bindings: [ { post: /p, body: nope } ] }",
        "the rule POST /p is wrong: body: depot.v1.GetRequest has no field nope", 99
      ),
    ] as [(String, String, Int)])
  func faultsPointIntoTheFile(line: String, message: String, column: Int) throws {
    let compiled = try compiled(rules(line))
    let fault = try #require(compiled.errors.first)
    #expect(compiled.errors.count == 1)
    #expect(fault.message.contains(message), "\(fault.message)")
    #expect(fault.position.file.hasSuffix("api.yaml"))
    #expect(fault.position.line == 3)
    #expect(fault.position.column == column)
  }

  /// What `${file:}` brings in is a secret wherever it stands, in the faults that come with the schema too.
  @Test(
    arguments: [
      ("- { selector: \"${file:hush}\", get: /x }", [], "the selector from outside the file names no method"),
      ("- { selector: \"depot.v1.CrateService.Get, ${file:hush}\", get: /x }", [], "selector from outside the file"),
      (
        "- { selector: depot.v1.CrateService.Get, get: \"/v1/{${file:hush}}\" }", [],
        "the rule is wrong at column 6, and a part of it comes from outside the file"
      ),
      (
        "- { selector: depot.v1.CrateService.Get, get: /x, body: \"${file:hush}\" }", [],
        "the rule is wrong, and a part of it comes from outside the file"
      ),
      ("", ["shadow: { ignore: [ \"id.${file:hush}\" ] }"], "the path from outside the file means nothing"),
      (
        "", ["canary: { percent: 1%, rules: [ { when: { header: x-v, version: \"${file:hush}\" }, use: rpc } ] }"],
        "the text from outside the file is no range of versions"
      ),
    ] as [(String, [String], String)])
  func faultsShowNoSecret(line: String, settings: [String], message: String) throws {
    for secret in ["Hush", "Hushed.v1.CrateService.Get", String(repeating: "Hushhush", count: 20)] {
      let compiled = try compiled(line.isEmpty ? [] : rules(line), settings, secrets: ["hush": secret])
      let texts = compiled.errors.map(\.description)
      #expect(texts.contains { $0.contains(message) }, "\(texts)")
      #expect(!texts.contains { $0.contains("Hush") }, "\(texts)")
    }
  }

  @Test func aRuleSpeltWithEscapesIsPlacedAtItsStart() throws {
    let compiled = try Compiled(["methods:", "  Get: { http: { get: \"\\x2Fv1/{idd}\" } }"])
    let fault = try #require(compiled.errors.first)
    #expect(fault.message.contains("at column 6"))
    #expect(compiled.place(fault).hasPrefix("\"\\x2Fv1"))
  }

  @Test func faultsOfAnnotationsPointIntoTheProto() throws {
    let compiled = try Compiled([], proto: Depot.proto.replacing("crates/{id}:seal", with: "crates/{idd}:seal"))
    let fault = try #require(compiled.errors.first)
    #expect(fault.position.file.hasSuffix("depot.proto"))
    #expect(fault.position.line == 14)
    #expect(
      fault.message.contains(
        "depot.v1.CrateService/Seal: the rule POST /v1/crates/{idd}:seal is wrong at column 13: "))
  }

  @Test func conflictsNameBothPlaces() throws {
    let compiled = try compiled(
      rules(
        "- { selector: depot.v1.CrateService.Get, get: \"/v2/{id}\" }",
        "- { selector: depot.v1.CrateService.Watch, get: \"/v2/{id=*}\" }"))
    let fault = try #require(compiled.errors.first)
    #expect(compiled.errors.count == 1)
    #expect(fault.message.hasPrefix("depot.v1.CrateService/Watch and depot.v1.CrateService/Get (GET /v2/{id} at "))
    #expect(fault.message.contains("api.yaml:3:49) have the same rule GET /v2/{id=*}; give one of them"))
    #expect(fault.position.line == 4)
  }

  @Test func aRuleThatIsGivenTwice() throws {
    let compiled = try compiled(
      rules("- { selector: depot.v1.CrateService.Get, get: /x, additional_bindings: [ { get: /x } ] }"))
    #expect(compiled.errors.map(\.what) == ["depot.v1.CrateService/Get has the rule GET /x twice"])
  }

  @Test func hostsThatOverlapConflict() throws {
    let other = """
      service OtherService {
        rpc Get(GetRequest) returns (Crate) { option (google.api.http) = {get: "/v1/crates/{id}"}; }
      }
      """
    func compile(_ left: String, _ right: String) throws -> [Diagnostic] {
      let text = try Compiled([]).text.replacing("    rpc: depot\n", with: "    rpc: depot\n    hosts: \(left)\n")
      return try Compiled(
        text: text + "  depot.v1.OtherService: { rest: legacy, hosts: \(right) }\n", proto: Depot.proto + other
      ).errors
    }
    #expect(try compile("[a.example, b.example]", "[c.example, b.example]").count == 1)
    #expect(try compile("[a.example]", "[b.example]").isEmpty)
    // The narrower one goes first.
    #expect(try compile("[a.example]", "[]").isEmpty)
    #expect(try compile("[\"*.example\"]", "[a.example]").isEmpty)
    #expect(try compile("[]", "[]").count == 1)
  }

  /// A schema whose one method has a request that no query can hold.
  private static let search = """
    syntax = "proto3";
    package depot.v1;
    import "google/api/annotations.proto";
    service CrateService {
      rpc Search(SearchRequest) returns (SearchRequest) { option (google.api.http) = {get: "/v1/crates" BINDINGS}; }
    }
    message SearchRequest {
      string id = 1;
      map<string, string> labels = 2;
      repeated SearchRequest more = 3;
    }
    """

  @Test func whatRPCCallersCannotAskOfARestBackendIsAWarning() throws {
    func warnings(_ bindings: String, _ stage: String) throws -> [String] {
      let compiled = try Compiled(["stage: \(stage)"], proto: Self.search.replacing("BINDINGS", with: bindings))
      #expect(compiled.errors.isEmpty)
      return compiled.diagnostics.map(\.what)
    }
    let refused =
      "depot.v1.CrateService/Search: RPC calls that set `labels` or `more` are refused while its stage is rest: "
      + "their place is the query, which holds no such values"
    #expect(try warnings("", "rest") == [refused])
    #expect(try warnings("", "rpc") == [])
    #expect(try warnings("additional_bindings {post: \"/v1/search\" body: \"*\"}", "rest") == [])
    // A binding with less in its path would move a value into the query; one with more can always be asked.
    #expect(
      try warnings("additional_bindings {custom {kind: \"*\" path: \"/v1/any\"} body: \"*\"}", "rest") == [refused])
  }

  @Test func streamsThatARESTBackendCannotBeAskedForAreAWarning() throws {
    func warnings(_ method: String, _ stage: String = "rest") throws -> [String] {
      let compiled = try Compiled(
        ["stage: \(stage)"],
        proto: """
          syntax = "proto3";
          package depot.v1;
          import "google/api/annotations.proto";
          import "google/api/httpbody.proto";
          message Crate { string id = 1; google.api.HttpBody scan = 2; }
          service CrateService { rpc \(method) }
          """)
      #expect(compiled.errors.isEmpty)
      return compiled.diagnostics.map(\.what)
    }
    let put = #"{ option (google.api.http) = {put: "/v1/crates/{id}" body: "BODY"}; }"#
    let (all, scan) = (put.replacing("BODY", with: "*"), put.replacing("BODY", with: "scan"))
    #expect(try warnings("Turn(Crate) returns (stream Crate) \(all)") == [])
    #expect(try warnings("Turn(stream Crate) returns (Crate) \(scan)") == [])
    let start = "depot.v1.CrateService/Turn cannot be asked by RPC while its stage is rest: Turn streams "
    let told = try warnings("Turn(stream Crate) returns (Crate) \(all)")
    #expect(told.count == 1 && told.allSatisfy { $0.hasPrefix(start + "from the client") })
    // The second one is of the RPC upstream, which is asked over HTTP/1.1.
    let both = try warnings("Turn(stream Crate) returns (stream Crate) \(scan)")
    #expect(both.map { $0.hasPrefix(start + "both ways") } == [true, false])
    #expect(try warnings("Turn(stream Crate) returns (Crate) \(all)", "rpc") == [])
    // Without a rule it is a new method, and nobody expects an answer of the old service.
    #expect(try warnings("Turn(Crate) returns (stream Crate);") == [])
    #expect(try warnings("Turn(stream Crate) returns (Crate);") == [])
  }

  @Test func aMethodThatStreamsBothWaysBeforeAnHTTP1UpstreamIsAWarning() throws {
    func warnings(_ method: String, _ http: String) throws -> [String] {
      let text = """
        listeners: [{ address: 127.0.0.1:0 }]
        schema: [{ protos: [depot.proto], import_paths: [.] }]
        upstreams:
          depot: { protocol: connect, endpoints: ["http://127.0.0.1:2"]\(http) }
        services: { depot.v1.CrateService: { rpc: depot, stage: rpc } }

        """
      let proto = "syntax = \"proto3\"; package depot.v1; message Crate {} service CrateService { rpc \(method); }"
      let compiled = try Compiled(text: text, proto: proto)
      #expect(compiled.errors.isEmpty)
      #expect(compiled.diagnostics.allSatisfy { compiled.place($0).hasPrefix("depot, stage: rpc") })
      return compiled.diagnostics.map(\.what)
    }
    let both = "Turn(stream Crate) returns (stream Crate)"
    #expect(
      try warnings(both, "") == [
        "depot.v1.CrateService/Turn streams both ways, which needs HTTP/2, and \"depot\" is asked over HTTP/1.1"
      ])
    #expect(try warnings(both, ", http: \"2\"") == [])
    #expect(try warnings("Turn(stream Crate) returns (Crate)", "") == [])
    #expect(try warnings("Turn(Crate) returns (stream Crate)", "") == [])
  }

  @Test func theFirstBindingWithAReverseIsUsed() throws {
    let annotation = #"{get: "/v1/crates/{id}"}"#
    func reverse(_ rule: String) throws -> [Int] {
      let compiled = try Compiled([], proto: Depot.proto.replacing(annotation, with: rule))
      #expect(compiled.errors.isEmpty)
      return try #require(compiled.snapshot?.routes.first).reverseBindings
    }
    #expect(try reverse(annotation) == [0])
    #expect(
      try reverse(#"{custom {kind: "*" path: "/v1/c/{id}"} additional_bindings {get: "/v1/crates/{id}"}}"#) == [1])
    #expect(
      try reverse(
        #"{get: "/v1/{id=a/*}" additional_bindings {get: "/v1/{id=b/*}"} additional_bindings {get: "/v1/all"}}"#)
        == [0, 1])
  }
}
