import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

@Suite struct ProfileTests {
  @Test func emitsDefaults() throws {
    let bench = Bench(JSONProfile(emitDefaults: true))
    #expect(
      try bench.encode([], "t.Parcel")
        == "{\"id\":\"\",\"trackingNo\":\"\",\"weightG\":\"0\",\"size\":\"SIZE_UNSPECIFIED\",\"tags\":[],\"labels\":{},"
        + "\"seal\":\"\",\"fragile\":false,\"insured\":0,\"route\":[],\"sizes\":[],\"f[\\\"x\\\"]\":\"\"}")
    #expect(try bench.encode(Wire.fixed64(1, 0), "t.Point") == "{\"lat\":0,\"lon\":0}")
    #expect(try bench.encode([], "t.Old") == "{\"results\":[],\"numbers\":[]}")
    // A packed list without elements is an empty list.
    #expect(try bench.encode(Wire.delimited(4, []), "t.Old") == "{\"numbers\":[],\"results\":[]}")
    #expect(
      try bench.encode(Wire.delimited(3, []), "t.Address")
        == "{\"geo\":{\"lat\":0,\"lon\":0},\"street\":\"\",\"city\":\"\"}")
  }

  @Test func writesNullForUnset() throws {
    let bench = Bench(JSONProfile(unsetAsNull: true))
    #expect(
      try bench.encode(Wire.text(1, "a"), "t.Parcel")
        == "{\"id\":\"a\",\"to\":null,\"created\":null,\"eta\":null,\"floor\":null,\"extra\":null,\"note\":null,\"inner\":null}"
    )
    let both = Bench(JSONProfile(emitDefaults: true, unsetAsNull: true))
    #expect(try both.encode([], "t.Address") == "{\"street\":\"\",\"city\":\"\",\"geo\":null}")
    // What is written is read again, as nothing.
    #expect(try both.decode(try both.encode([], "t.Parcel"), "t.Parcel") == [])
  }

  /// Extensions are no part of the message until they are set: a list without elements does not set them.
  @Test func emptyListsOfExtensionsAreNoDefaults() throws {
    var builder = FixtureBuilder()
    builder.message(
      "t.Base",
      [
        FixtureField("numbers", 1, .int32).repeated(),
        FixtureField("more", 2, .int32, extensionName: "t.more").repeated(),
      ])
    let bench = Bench(codec: JSONCodec(schema: builder.build(), profile: JSONProfile(emitDefaults: true)))
    let empty = Wire.delimited(1, []) + Wire.delimited(2, [])
    #expect(try bench.encode(empty, "t.Base") == bench.encode([], "t.Base"))
    #expect(try bench.encode(Wire.delimited(2, [1]), "t.Base").contains("[t.more]"))
  }

  /// An entry without a value has the same value as one with an empty message.
  @Test func mapValuesThatAreMissingFollowTheProfile() throws {
    let map = try #require(Fixture.schema.messageIndex(named: "t.Maps"))
    for profile in [JSONProfile(), JSONProfile(emitDefaults: true), JSONProfile(unsetAsNull: true, timestamps: .unix)] {
      let bench = Bench(profile)
      for field in Fixture.schema.messages[map].fields where field.cardinality == .map {
        let value = Fixture.schema.messages[field.messageIndex].fields[1]
        // An empty `Value` has no JSON; a missing one is null.
        if value.kind != .message || Fixture.schema.messages[value.messageIndex].wellKnown == .value { continue }
        let number = UInt32(bitPattern: field.number)
        let missing = try bench.encode(Wire.delimited(number, []), "t.Maps")
        #expect(try bench.encode(Wire.delimited(number, Wire.delimited(2, [])), "t.Maps") == missing, "\(field.name)")
      }
    }
  }

  @Test func writesProtoNamesAndNumbers() throws {
    let bench = Bench(JSONProfile(protoFieldNames: true, int64AsNumber: true, enumsAsNumbers: true))
    let json = "{\"tracking_no\":\"a\",\"weight_g\":9007199254740993,\"size\":2,\"sizes\":[1,0],\"odd\":\"q\"}"
    #expect(try bench.normalize(json, "t.Parcel") == json)
    let camel =
      "{\"trackingNo\":\"a\",\"weightG\":\"9007199254740993\",\"size\":\"SIZE_L\",\"sizes\":[\"SIZE_S\",0],\"f[\\\"x\\\"]\":\"q\"}"
    #expect(try bench.normalize(camel, "t.Parcel") == json)
    #expect(try bench.normalize("{\"[t.ext.priority]\":1}", "t.Old") == "{\"[t.ext.priority]\":1}")
    #expect(try bench.normalize("{\"f_int64\":{\"1\":\"x\"}}", "t.Maps") == "{\"f_int64\":{\"1\":\"x\"}}")
  }

  @Test func stripsEnumPrefixes() throws {
    let bench = Bench(JSONProfile(stripEnumPrefix: true))
    #expect(try bench.normalize("{\"size\":\"S\"}", "t.Parcel") == "{\"size\":\"S\"}")
    #expect(try bench.normalize("{\"size\":\"SIZE_BIG\"}", "t.Parcel") == "{\"size\":\"L\"}")
    #expect(try bench.normalize("{\"size\":-7}", "t.Parcel") == "{\"size\":\"XL\"}")
    #expect(try bench.refusal("{\"size\":\"Q\"}", "t.Parcel").kind == .type)
    #expect(try Bench.standard.refusal("{\"size\":\"S\"}", "t.Parcel").kind == .type)
  }

  @Test func writesEnumsInLowerCase() throws {
    let lower = Bench(JSONProfile(lowerCaseEnums: true))
    #expect(try lower.normalize("{\"size\":\"SIZE_S\"}", "t.Parcel") == "{\"size\":\"size_s\"}")
    #expect(try lower.normalize("{\"size\":\"size_s\"}", "t.Parcel") == "{\"size\":\"size_s\"}")
    #expect(try lower.refusal("{\"size\":\"Size_S\"}", "t.Parcel").kind == .type)
    #expect(try lower.refusal("{\"size\":\"s\"}", "t.Parcel").kind == .type)
    let both = Bench(JSONProfile(stripEnumPrefix: true, lowerCaseEnums: true))
    for name in ["S", "s", "SIZE_S", "size_s"] {
      #expect(try both.normalize("{\"size\":\"\(name)\"}", "t.Parcel") == "{\"size\":\"s\"}", "\(name)")
    }
    #expect(try both.normalize("{\"sizes\":[\"l\",2,0]}", "t.Parcel").contains("\"l\",\"l\""))
    #expect(try Bench.standard.refusal("{\"size\":\"size_s\"}", "t.Parcel").kind == .type)
    // Numbers stay numbers, and a name that lower case would give to two values is written as it is.
    let numbers = Bench(JSONProfile(enumsAsNumbers: true, lowerCaseEnums: true))
    #expect(try numbers.normalize("{\"size\":\"size_s\"}", "t.Parcel") == "{\"size\":1}")
    var builder = FixtureBuilder()
    builder.enumeration("t.E", [("ZERO", 0), ("E_A", 1), ("a", 2), ("E_B", 3), ("e_b", 4)])
    builder.message("t.M", [FixtureField("e", 1, .enum, "t.E").repeated()])
    let clash = Bench(
      codec: JSONCodec(schema: builder.build(), profile: JSONProfile(stripEnumPrefix: true, lowerCaseEnums: true)))
    #expect(
      try clash.normalize("{\"e\":[0,1,2,3,4]}", "t.M") == "{\"e\":[\"zero\",\"e_a\",\"a\",\"b\",\"e_b\"]}")
  }

  @Test func prefixesMatchWordByWord() {
    func stripped(_ type: String, _ name: String) -> String? {
      EnumPrefix(.init(fullName: type, values: [], isOpen: true)).stripped(name)
    }
    #expect(stripped("a.b.HTTPMethod", "HTTP_METHOD_GET") == "GET")
    #expect(stripped("HTTPMethod", "HTTPMETHOD_GET") == "GET")
    #expect(stripped("Quality", "QUALITY_4K") == "4K")
    #expect(stripped("Quality", "QUALITY_") == nil)
    #expect(stripped("Quality", "QUALITY") == nil)
    #expect(stripped("Quality", "QUALITYX_A") == nil)
    #expect(stripped("Quality", "QUAL_A") == nil)
    #expect(stripped("Quality", "OTHER") == nil)
  }

  @Test func aShortNameThatMeansAnotherValueIsNotWritten() throws {
    var builder = FixtureBuilder()
    builder.enumeration("t.E", [("ZERO", 0), ("E_A", 1), ("A", 2)])
    builder.message("t.M", [FixtureField("e", 1, .enum, "t.E").repeated()])
    let bench = Bench(codec: JSONCodec(schema: builder.build(), profile: JSONProfile(stripEnumPrefix: true)))
    #expect(
      try bench.normalize("{\"e\":[0,1,2,\"A\",\"E_A\"]}", "t.M") == "{\"e\":[\"ZERO\",\"E_A\",\"A\",\"A\",\"E_A\"]}")
  }

  private static let unixRows: [(String, String, String)] = [
    ("0", "0", "1970-01-01T00:00:00Z"), ("1767225600", "1767225600", "2026-01-01T00:00:00Z"),
    ("1767225600.5", "1767225600.5", "2026-01-01T00:00:00.500Z"), ("-0.5", "-0.5", "1969-12-31T23:59:59.500Z"),
    ("-1", "-1", "1969-12-31T23:59:59Z"), ("1.7672256e9", "1767225600", "2026-01-01T00:00:00Z"),
    ("0.000000001", "0.000000001", "1970-01-01T00:00:00.000000001Z"),
    ("\"1767225600\"", "1767225600", "2026-01-01T00:00:00Z"),
    ("\"2026-01-01T00:00:00Z\"", "1767225600", "2026-01-01T00:00:00Z"),
    ("-62135596800", "-62135596800", "0001-01-01T00:00:00Z"), ("253402300799", "253402300799", "9999-12-31T23:59:59Z"),
    ("253402300799.999999999", "253402300799.999999999", "9999-12-31T23:59:59.999999999Z"),
  ]

  @Test func unixSeconds() throws {
    let bench = Bench(JSONProfile(timestamps: .unix))
    for (json, unix, text) in Self.unixRows {
      let wire = try bench.decode(json, "google.protobuf.Timestamp")
      #expect(try bench.encode(wire, "google.protobuf.Timestamp") == unix, "\(json)")
      #expect(try Bench.standard.encode(wire, "google.protobuf.Timestamp") == "\"\(text)\"", "\(json)")
    }
    for (json, kind) in [
      ("253402300800", JSONError.Kind.range), ("-62135596801", .range), ("1e30", .range), ("0.0000000001", .range),
      ("1e999999", .range), ("true", .type), ("\"x\"", .type), ("01", .syntax),
    ] {
      #expect(try bench.refusal(json, "google.protobuf.Timestamp").kind == kind, "\(json)")
    }
  }

  @Test func unixMilliseconds() throws {
    let bench = Bench(JSONProfile(timestamps: .unixMilliseconds))
    for (json, unix, text) in [
      ("1767225600500", "1767225600500", "2026-01-01T00:00:00.500Z"), ("1", "1", "1970-01-01T00:00:00.001Z"),
      ("-1", "-1", "1969-12-31T23:59:59.999Z"), ("0.5", "0.5", "1970-01-01T00:00:00.000500Z"),
      ("-1500", "-1500", "1969-12-31T23:59:58.500Z"),
      ("253402300799999", "253402300799999", "9999-12-31T23:59:59.999Z"),
      ("\"1970-01-01T00:00:01Z\"", "1000", "1970-01-01T00:00:01Z"),
    ] {
      let wire = try bench.decode(json, "google.protobuf.Timestamp")
      #expect(try bench.encode(wire, "google.protobuf.Timestamp") == unix, "\(json)")
      #expect(try Bench.standard.encode(wire, "google.protobuf.Timestamp") == "\"\(text)\"", "\(json)")
    }
  }

  @Test func unknownMembersAreDroppedAndNamed() throws {
    for mode in [JSONProfile.UnknownFields.ignore, .report] {
      let bench = Bench(JSONProfile(unknownFields: mode))
      var outcome = DecodingOutcome()
      let json =
        "{\"auth\":{\"a\":[1,null,\"\\u0041\"]},\"id\":\"x\",\"route\":[{\"lat\":1,\"z\":1}],\"to\":{\"y\":null},\"size\":\"NEW\","
        + "\"sizes\":[\"SIZE_S\",\"NEW\"],\"labels\":{\"a\":\"b\"}}"
      let wire = try bench.decode(Array(json.utf8), "t.Parcel", outcome: &outcome)
      #expect(
        try bench.encode(wire, "t.Parcel")
          == "{\"id\":\"x\",\"route\":[{\"lat\":1}],\"to\":{},\"sizes\":[\"SIZE_S\"],\"labels\":{\"a\":\"b\"}}")
      #expect(outcome.unknownFields == ["auth", "route[0].z", "to.y", "size", "sizes[1]"])
      #expect(
        try bench.decode("{\"vSize\":{\"a\":\"NEW\",\"b\":1}}", "t.Maps")
          == (try bench.decode("{\"vSize\":{\"b\":1}}", "t.Maps")))
      // What is skipped is still JSON, and wrong values of known members are still refused.
      #expect(try bench.refusal("{\"auth\":{\"a\":01}}", "t.Parcel").path == "auth.a")
      #expect(try bench.refusal("{\"auth\":\"\\x\"}", "t.Parcel").kind == .syntax)
      #expect(try bench.refusal("{\"id\":1}", "t.Parcel").kind == .type)
    }
  }

  @Test func theListOfUnknownMembersIsBounded() throws {
    let bench = Bench(JSONProfile(unknownFields: .ignore))
    var outcome = DecodingOutcome()
    let json = "{" + (0..<200).map { "\"unknown\($0)\":1" }.joined(separator: ",") + "}"
    #expect(try bench.decode(Array(json.utf8), "t.Parcel", outcome: &outcome) == [])
    #expect(outcome.unknownFields == (0..<64).map { "unknown\($0)" })
  }
}
