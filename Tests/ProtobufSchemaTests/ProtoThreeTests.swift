import ProtobufSchema
import Testing

/// A proto3 file with all kinds of fields, from sources and as a descriptor set.
@Suite struct ProtoThreeTests {
  static func schemas() throws -> [Schema] {
    [
      try Fixtures.schema(Fixtures.sources("depot/v1/depot.proto", in: ["proto"])),
      try Fixtures.schema(Fixtures.set(Fixtures.compiled("depot/v1/depot.proto"))),
    ]
  }

  @Test func keepsTheFieldsInOrder() throws {
    for schema in try Self.schemas() {
      let crate = try schema.message("depot.v1.Crate")
      #expect(crate.file == "depot/v1/depot.proto")
      #expect(!crate.isMapEntry)
      #expect(crate.wellKnown == nil)
      #expect(crate.fields.map(\.number) == Array(1...15))
      #expect(
        crate.fields.map(\.kind) == [
          .string, .int64, .int32, .string, .message, .message, .message, .int32, .int32, .string, .enum, .message,
          .string, .message, .message,
        ])
      #expect(crate.fieldIndex(named: "weight_g") == 1)
      #expect(crate.fieldIndex(named: "grams") == 1)
      #expect(crate.fieldIndex(named: "weightG") == nil)
      #expect(schema.messageIndex(named: ".depot.v1.Crate") == nil)
    }
  }

  @Test func knowsPresence() throws {
    for schema in try Self.schemas() {
      let crate = try schema.message("depot.v1.Crate")
      let present = crate.fields.filter(\.hasPresence).map(\.name)
      #expect(present == ["floor", "person", "firm", "created", "inside", "second"])
      #expect(!crate.fields.contains { $0.isRequired })
      #expect(crate.fields.filter(\.isRedacted).map(\.name) == ["secret"])
    }
  }

  @Test func leavesSyntheticOneofsOut() throws {
    for schema in try Self.schemas() {
      let crate = try schema.message("depot.v1.Crate")
      #expect(crate.oneofs.map(\.name) == ["owner"])
      #expect(crate.oneofs.first?.members == [3, 4])
      #expect(crate.fields.map(\.oneofIndex) == [-1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1])
    }
  }

  @Test func packsByDefault() throws {
    for schema in try Self.schemas() {
      let crate = try schema.message("depot.v1.Crate")
      #expect(crate.fields.filter(\.isPacked).map(\.name) == ["marks"])
      let repeated = crate.fields.filter { $0.cardinality == .repeated }
      #expect(repeated.map(\.name) == ["marks", "loose", "tags"])
    }
  }

  @Test func resolvesTypesAndMaps() throws {
    for schema in try Self.schemas() {
      let firms = try schema.field("depot.v1.Crate", "firms")
      #expect(firms.cardinality == .map)
      let entry = schema.messages[firms.messageIndex]
      #expect(entry.fullName == "depot.v1.Crate.FirmsEntry")
      #expect(entry.isMapEntry)
      #expect(entry.fields.map(\.kind) == [.string, .message])
      #expect(schema.messages[entry.fields[1].messageIndex].fullName == "depot.v1.Crate.Firm")

      let sizes = schema.messages[try schema.field("depot.v1.Crate", "sizes").messageIndex]
      #expect(sizes.fields.map(\.kind) == [.int32, .enum])
      #expect(schema.enums[sizes.fields[1].enumIndex].fullName == "depot.v1.Size")

      let inside = try schema.field("depot.v1.Crate", "inside")
      #expect(schema.messages[inside.messageIndex].fullName == "depot.v1.Crate")
      let created = try schema.field("depot.v1.Crate", "created")
      #expect(schema.messages[created.messageIndex].wellKnown == .timestamp)
      let kind = try schema.field("depot.v1.Crate.Firm", "kind")
      #expect(schema.enums[kind.enumIndex].fullName == "depot.v1.Crate.Kind")
    }
  }

  @Test func keepsEnumsWithAliases() throws {
    for schema in try Self.schemas() {
      let size = try schema.enumeration("depot.v1.Size")
      #expect(size.isOpen)
      #expect(size.values.map(\.name) == ["SIZE_UNSPECIFIED", "SIZE_S", "SIZE_SMALL", "SIZE_L", "SIZE_NEGATIVE"])
      #expect(size.values.map(\.number) == [0, 1, 1, 5, -1])
      #expect(size.name(of: 1) == "SIZE_S")
      #expect(size.name(of: -1) == "SIZE_NEGATIVE")
      #expect(size.name(of: 2) == nil)
    }
  }

  @Test func readsMethods() throws {
    let service = "depot.v1.CrateService"
    for schema in try Self.schemas() {
      let get = try schema.method(service, "Get")
      #expect(get.idempotency == .noSideEffects)
      #expect(schema.messages[get.input].fullName == "depot.v1.GetCrate")
      #expect(schema.messages[get.output].fullName == "depot.v1.Crate")
      #expect(
        get.httpRule
          == HTTPRule(
            method: "GET", path: "/v1/crates/{id}", responseBody: "size",
            additionalBindings: [
              HTTPRule(method: "POST", path: "/v1/crates:get", body: "*"),
              HTTPRule(method: "HEAD", path: "/v1/crates/{id}"),
            ]))
      let put = try schema.method(service, "Put")
      #expect(put.idempotency == .idempotent)
      #expect(put.httpRule == HTTPRule(method: "PUT", path: "/v1/crates/{id}", body: "inside"))
      let remove = try schema.method(service, "Remove")
      #expect(remove.idempotency == .unknown)
      #expect(remove.httpRule == HTTPRule(method: "DELETE", path: "/v1/crates/{id}"))
      #expect(try schema.method(service, "Patch").httpRule?.method == "PATCH")
      let photo = try schema.method(service, "Photo")
      #expect(photo.httpRule == HTTPRule(method: "*", path: "/v1/crates/{id}/photo"))
      #expect(schema.messages[photo.output].wellKnown == .httpBody)
    }
  }

  @Test(arguments: [("Get", false, false), ("Watch", false, true), ("Load", true, false), ("Talk", true, true)])
  func readsStreaming(name: String, client: Bool, server: Bool) throws {
    for schema in try Self.schemas() {
      let method = try schema.method("depot.v1.CrateService", name)
      #expect(method.isClientStreaming == client)
      #expect(method.isServerStreaming == server)
      #expect((method.httpRule == nil) == (name != "Get"))
    }
  }

  @Test(arguments: [
    ("field_name", "fieldName"), ("FIELD_NAME11", "FIELDNAME11"), ("_field_name3", "FieldName3"),
    ("field__name4_", "fieldName4"), ("a_1b", "a1b"), ("__", ""), ("Abc", "Abc"),
  ])
  func derivesJSONNames(name: String, expected: String) throws {
    // As in sets of producers that leave json_name out.
    let set = DescriptorBytes.set { $0.message("M") { $0.field(name, 1) } }
    #expect(try Fixtures.schema(Fixtures.set(set)).field("x.M", name).jsonName == expected)
  }
}
