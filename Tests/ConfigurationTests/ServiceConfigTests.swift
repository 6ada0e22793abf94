import Diagnostics
import Testing

@testable import Configuration

/// The values of a google.api.Service file; its faults are golden.
@Suite struct ServiceConfigTests {
  private static let file = GoldenTests.folder + "/parts/service-config.yaml"

  private func load(_ files: String...) throws -> GatewayConfiguration {
    let sources = files.map { "  - service_config: parts/\($0)\n" }.joined()
    let (configuration, diagnostics) = ConfigurationLoader.load(
      text: "listeners: [ { address: 127.0.0.1:1 } ]\nschema:\n  - descriptor_set: a.binpb\n\(sources)",
      file: GoldenTests.folder + "/turnout.yaml")
    #expect(diagnostics == [])
    return try #require(configuration)
  }

  @Test func rulesWithTheirSelectorsAndPlaces() throws {
    let configuration = try load("service-config.yaml")
    #expect(configuration.schema.count == 1)
    let rules = configuration.selectedRules
    #expect(rules.map { $0.patterns.map(\.name) } == [["a.v1.Alpha.Get"], ["a.v1.Alpha.Create", "a.v1.Beta.*"]])
    let get = try #require(rules.first)
    #expect((get.rule.method, get.rule.path, get.rule.body) == ("GET", "/v1/a/{id}", nil))
    #expect(get.rule.additionalBindings.map { "\($0.method) \($0.path)" } == ["POST /v1/a:get", "QUERY /v1/a/{id}:q"])
    #expect(get.rule.additionalBindings.first?.body == "*")
    #expect((get.patterns.first?.position.line, get.patterns.first?.position.column) == (11, 15))
    #expect((get.rule.position.file, get.rule.position.line, get.rule.position.column) == (Self.file, 12, 10))
    // Keys in lowerCamelCase, as ProtoJSON has them.
    let create = try #require(rules.last)
    #expect((create.rule.body, create.rule.responseBody) == ("item", "item"))
    #expect(create.rule.additionalBindings.map(\.method) == ["PUT"])
    #expect(create.patterns.map(\.position.column) == [15, 34])
  }

  @Test func severalFilesComeInTheirOrder() throws {
    let configuration = try load("service-config.yaml", "service-config.yaml")
    #expect(configuration.selectedRules.count == 4)
    #expect(configuration.watchedFiles.contains(Self.file))
  }
}
