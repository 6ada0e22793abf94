import Diagnostics
import ProtobufSchema
import Testing

@Suite struct BuiltInTypesTests {
  static let expected =
    WellKnownType.allCases.map(\.rawValue) + [
      "google.protobuf.Api", "google.protobuf.Type", "google.protobuf.SourceContext", "google.rpc.Status",
      "google.rpc.ErrorInfo", "google.rpc.RetryInfo", "google.rpc.DebugInfo", "google.rpc.QuotaFailure",
      "google.rpc.PreconditionFailure", "google.rpc.BadRequest", "google.rpc.RequestInfo", "google.rpc.ResourceInfo",
      "google.rpc.Help", "google.rpc.LocalizedMessage",
    ]

  private func check(_ schema: Schema) throws {
    for name in Self.expected {
      #expect(schema.messages.count { $0.fullName == name } == 1, "\(name)")
      #expect(try schema.message(name).wellKnown == WellKnownType(rawValue: name))
    }
    #expect(Set(schema.messages.map(\.fullName)).count == schema.messages.count)
    #expect(Set(schema.enums.map(\.fullName)).count == schema.enums.count)
    #expect(try schema.enumeration("google.rpc.Code").values.count == 17)
    #expect(try schema.enumeration("google.protobuf.NullValue").values.map(\.name) == ["NULL_VALUE"])
  }

  @Test func areThereWithoutAnySource() throws {
    let schema = try Fixtures.schema()
    try check(schema)
    #expect(schema.services.isEmpty)
    #expect(schema.messageIndex(named: "google.protobuf.FileDescriptorProto") == nil)
  }

  @Test func areThereOnceWithSetsThatBringThem() throws {
    let set = try Fixtures.compiled("depot/v1/depot.proto", "google/rpc/error_details.proto", "google/rpc/status.proto")
    try check(try Fixtures.schema(Fixtures.set(set), Fixtures.set(set)))
  }

  @Test func haveTheirFields() throws {
    let schema = try Fixtures.schema()
    #expect(try schema.message("google.protobuf.Timestamp").fields.map(\.name) == ["seconds", "nanos"])
    #expect(try schema.field("google.protobuf.Struct", "fields").cardinality == .map)
    #expect(try schema.message("google.protobuf.Value").oneofs.first?.members.count == 6)
    #expect(try schema.field("google.rpc.BadRequest.FieldViolation", "localized_message").number == 4)
    #expect(try schema.field("google.rpc.QuotaFailure.Violation", "future_quota_value").hasPresence)
    #expect(try schema.field("google.api.HttpBody", "data").kind == .bytes)
  }

  @Test func completeASetWithoutImports() throws {
    // `buf build --exclude-imports`, for imports that are at hand.
    let set = DescriptorBytes.set { file in
      file.text(3, "google/protobuf/timestamp.proto")
      file.text(3, "google/api/annotations.proto")
      file.message("M") { $0.field("at", 1, type: 11) { $0.text(6, ".google.protobuf.Timestamp") } }
    }
    let schema = try Fixtures.schema(Fixtures.set(set))
    try check(schema)
    #expect(schema.messageIndex(named: "google.api.HttpRule") != nil)
    #expect(schema.messageIndex(named: "google.protobuf.MethodOptions") != nil)
  }

  @Test func giveWayToACopyUnderAnotherFileName() throws {
    let set = DescriptorBytes.make { set in
      set.file("third_party/status.proto", package: "google.rpc") { file in
        file.message("Status") { $0.field("code", 1, type: 5) }
      }
    }
    let status = try Fixtures.schema(Fixtures.set(set)).message("google.rpc.Status")
    #expect(status.file == "third_party/status.proto")
    #expect(status.fields.count == 1)
  }

  @Test func areCompatibleWithOtherReleases() throws {
    func set(_ fields: Int64) -> [UInt8] {
      DescriptorBytes.make { set in
        set.file("google/api/extra.proto", package: "google.api") { file in
          file.message("Extra") { for number in 1...fields { $0.field("f\(number)", number) } }
        }
      }
    }
    for order in [[set(1), set(3)], [set(3), set(1)]] {
      let schema = try Fixtures.schema(Fixtures.set(order[0]), Fixtures.set(order[1]))
      #expect(try schema.message("google.api.Extra").fields.count == 3)
    }
  }

  @Test func refuseAnotherShapeUnderTheirName() throws {
    let set = DescriptorBytes.make { set in
      set.file("mine.proto", package: "google.protobuf") { file in
        file.message("Timestamp") { $0.field("seconds", 1, type: 9) }
      }
    }
    let (schema, diagnostics) = SchemaLoader.load([Fixtures.set(set)])
    #expect(schema == nil)
    #expect(
      diagnostics.map(\.what) == [
        "mine.proto: message google.protobuf.Timestamp has not the fields of the well-known type"
      ])
  }

  @Test func serveSourcesThatVendorAnOlderCopy() throws {
    let schema = try Fixtures.schema(Fixtures.sources("tiny.proto", in: ["vendored"]))
    #expect(
      try schema.method("tiny.v1.TinyService", "Do").httpRule
        == HTTPRule(
          method: "POST", path: "/v1/tiny", body: "*"))
  }
}
