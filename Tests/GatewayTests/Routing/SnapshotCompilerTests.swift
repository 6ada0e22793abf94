import Configuration
import Diagnostics
import Migration
import Testing

@testable import Gateway

@Suite struct SnapshotCompilerTests {
  @Test func compilesAService() throws {
    let compiled = try Compiled([
      "prefix: /api", "methods:", "  Get: { stage: rpc }",
      "  Watch: { stage: rpc, http: { get: \"/v1/watch/{id}\" } }",
    ])
    let snapshot = try #require(compiled.snapshot)
    #expect(compiled.errors.isEmpty)
    #expect(snapshot.routes.map(\.procedure) == ["Get", "Create", "Seal", "Watch"].map { "/\(Depot.service)/\($0)" })
    #expect(
      snapshot.routes.map(\.templates) == [
        ["/api/v1/crates/{id}"], ["/api/v1/crates"], ["/api/v1/crates/{id}:seal"], ["/api/v1/watch/{id}"],
      ])
    #expect(snapshot.routes.map(\.stage.setting.stage) == [.rpc, .rest, .rest, .rpc])
    #expect(snapshot.routes.map(\.isStreaming) == [false, false, false, true])
    #expect(snapshot.routes.map(\.allowsGet) == [true, false, false, false])
    #expect(snapshot.routes.allSatisfy { $0.restUpstream == 0 && $0.rpcUpstream == 1 })
    // One profile, one set of tables.
    #expect(snapshot.routes.allSatisfy { $0.codec === snapshot.routes[0].codec })
  }

  /// A fault, what it says, and the text at its place.
  @Test(
    arguments: [
      (["methods:", "  Gett: { stage: rpc }"], "has no method Gett; did you mean Get?", "Gett: {"),
      (["methods:", "  Zap: { stage: rpc }"], "has no method Zap; it has Get, Create, Seal, Watch", "Zap: {"),
      (
        ["methods:", "  Get: { http: { get: \"/v1/{id\" } }"], "the rule GET /v1/{id is wrong at column 8:",
        "\" } }"
      ),
      (["methods:", "  Get: { http: { get: \"/v1/{nope}\" } }"], "has no field nope", "nope}\""),
      (["methods:", "  Create: { http: { post: \"/v1/new\", body: nope } }"], "has no field nope", "nope } }"),
      (
        ["methods:", "  Seal: { http: { get: \"/v1/crates/{id}\" } }"],
        "depot.proto:8:5) have the same rule GET /v1/crates/{id}; give one of them another path",
        "\"/v1/crates/{id}\""
      ),
      (
        ["methods:", "  Create: { stage: shadow }"], "may have side effects, so it cannot be shadowed; declare",
        "shadow }"
      ),
    ] as [([String], String, String)])
  func placesFaults(settings: [String], message: String, place: String) throws {
    let compiled = try Compiled(settings)
    #expect(compiled.snapshot == nil)
    #expect(compiled.errors.count == 1)
    let fault = try #require(compiled.errors.first)
    #expect(fault.message.contains(message))
    #expect(compiled.place(fault).hasPrefix(place))
  }

  @Test func anUnknownServiceNamesTheNearest() throws {
    let compiled = try Compiled([], service: "depot.v1.CrateServise")
    let fault = try #require(compiled.errors.first)
    #expect(compiled.errors.count == 1)
    #expect(fault.message == "the schema has no service depot.v1.CrateServise; did you mean depot.v1.CrateService?")
    #expect(compiled.place(fault).hasPrefix("depot.v1.CrateServise:"))
  }

  @Test func allFaultsAtOnce() throws {
    let compiled = try Compiled([
      "methods:", "  Gett: {}", "  Create: { stage: shadow }", "  Seal: { http: { get: \"/v1/{nope}\" } }",
    ])
    #expect(compiled.errors.map(\.position.line) == [11, 12, 13])
  }

  @Test func aRuleThatMayBeShadowedByTheConfiguration() throws {
    let compiled = try Compiled(["methods:", "  Seal: { stage: shadow, http: { get: \"/v1/seal/{id}\" } }"])
    #expect(compiled.errors.isEmpty)
    // The rule in use counts, not the annotation that it replaces.
    let replaced = try Compiled(
      ["methods:", "  Get: { stage: shadow, http: { post: \"/v1/get\", body: \"*\" } }"],
      proto: Depot.proto.replacing("option idempotency_level = NO_SIDE_EFFECTS;", with: ""))
    #expect(replaced.errors.count == 1)
  }

  @Test func aFaultInTheSchemaIsPlacedThere() throws {
    let compiled = try Compiled(
      [], proto: Depot.proto.replacing("returns (stream Crate)", with: "returns (stream Crat)"))
    let fault = try #require(compiled.errors.first)
    #expect(fault.position.file.hasSuffix("depot.proto"))
    #expect(fault.position.line == 16)
  }

  @Test func aSchemaFileThatIsNotThere() throws {
    let compiled = try Compiled(
      text: "listeners: [{ address: 127.0.0.1:0 }]\nschema:\n  - descriptor_set: nowhere.binpb\nupstreams:\n"
        + "  a: { protocol: rest, endpoints: [\"http://127.0.0.1:1\"] }\nfallback: a\n")
    let fault = try #require(compiled.errors.first)
    #expect(fault.message.contains("cannot read the descriptor set"))
    #expect(fault.position.line == 3)
  }

  @Test func theSameRuleForDifferentHostsIsFine() throws {
    let text = try Compiled([]).text
    let two =
      text.replacing("    rpc: depot\n", with: "    rpc: depot\n    hosts: [a.example]\n")
      + "  depot.v1.OtherService: { rest: legacy, hosts: [b.example] }\n"
    let proto =
      Depot.proto + """
        service OtherService {
          rpc Get(GetRequest) returns (Crate) { option (google.api.http) = {get: "/v1/crates/{id}"}; }
        }
        """
    let apart = try Compiled(text: two, proto: proto)
    #expect(apart.errors.isEmpty)
    #expect(apart.snapshot?.groups.count == 2)
    let together = try Compiled(text: two.replacing("b.example", with: "a.example"), proto: proto)
    #expect(together.errors.count == 1)
    #expect(together.errors.first?.message.contains("have the same rule GET /v1/crates/{id}") == true)
  }
}
