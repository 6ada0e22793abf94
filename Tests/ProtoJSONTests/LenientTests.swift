import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// What loosely typed backends write, read as what it means; plain ProtoJSON refuses each of these.
@Suite struct LenientTests {
  private let lenient = Bench(JSONProfile(isLenient: true))

  static let forms: [(loose: String, strict: String, message: String)] = [
    ("{\"id\":5}", "{\"id\":\"5\"}", "t.Parcel"),
    ("{\"id\":-12.50e3}", "{\"id\":\"-12.50e3\"}", "t.Parcel"),
    ("{\"id\":true,\"trackingNo\":false}", "{\"id\":\"true\",\"trackingNo\":\"false\"}", "t.Parcel"),
    ("{\"fragile\":1}", "{\"fragile\":true}", "t.Parcel"),
    ("{\"fragile\":0}", "{}", "t.Parcel"),
    ("{\"fragile\":\"1\"}", "{\"fragile\":true}", "t.Parcel"),
    ("{\"fragile\":\"true\"}", "{\"fragile\":true}", "t.Parcel"),
    ("{\"fragile\":\"false\"}", "{}", "t.Parcel"),
    ("{\"weightG\":\"\",\"fragile\":\"\",\"size\":\"\",\"insured\":\"\"}", "{}", "t.Parcel"),
    ("{\"created\":\"\",\"eta\":\"\",\"floor\":\"\",\"to\":\"\"}", "{}", "t.Parcel"),
    ("{\"tags\":\"a\"}", "{\"tags\":[\"a\"]}", "t.Parcel"),
    ("{\"tags\":[\"a\",null,5]}", "{\"tags\":[\"a\",\"5\"]}", "t.Parcel"),
    ("{\"route\":{\"lat\":1}}", "{\"route\":[{\"lat\":1}]}", "t.Parcel"),
    ("{\"sizes\":\"SIZE_S\"}", "{\"sizes\":[\"SIZE_S\"]}", "t.Parcel"),
    ("{\"labels\":[]}", "{}", "t.Parcel"),
    ("{\"labels\":{\"a\":1,\"b\":null}}", "{\"labels\":{\"a\":\"1\"}}", "t.Parcel"),
    ("{\"to\":[]}", "{\"to\":{}}", "t.Parcel"),
    ("{\"to\":false}", "{}", "t.Parcel"),
    ("{\"fBool\":[1,\"0\",true,null]}", "{\"fBool\":[true,false,true]}", "t.Lists"),
    ("{\"fInt32\":7}", "{\"fInt32\":[7]}", "t.Lists"),
    ("{\"google.protobuf.BoolValue\":1}", "{\"google.protobuf.BoolValue\":true}", "t.WellKnown"),
    ("{\"google.protobuf.StringValue\":\"\"}", "{\"google.protobuf.StringValue\":\"\"}", "t.WellKnown"),
    ("{\"google.protobuf.StringValue\":5}", "{\"google.protobuf.StringValue\":\"5\"}", "t.WellKnown"),
    ("{\"created\":\"0000-00-00 00:00:00\"}", "{}", "t.Parcel"),
  ]

  @Test(arguments: forms)
  func readsWhatIsMeant(_ loose: String, _ strict: String, _ message: String) throws {
    #expect(try lenient.decode(loose, message) == Bench.standard.decode(strict, message))
    if loose != strict { _ = try Bench.standard.refusal(Array(loose.utf8), message) }
  }

  @Test(arguments: [
    "{\"fragile\":2}", "{\"fragile\":-1}", "{\"fragile\":\"maybe\"}", "{\"weightG\":true}", "{\"to\":[1]}",
    "{\"to\":true}", "{\"labels\":[1]}", "{\"id\":{}}", "{\"id\":01}", "{\"id\":1,\"id\":2}", "{\"other\":1}",
    "{\"tags\":[\"a\",]}", "{\"labels\":[}", "{\"created\":\"soon\"}", "{\"size\":\"SIZE\"}",
  ])
  func refusesWhatMeansNothing(_ json: String) throws {
    _ = try lenient.refusal(Array(json.utf8), "t.Parcel")
  }

  /// What it reads without a change is what it always reads.
  @Test func readsPlainJSONAsEver() throws {
    let json =
      "{\"id\":\"a\",\"weightG\":\"7\",\"tags\":[\"\",\"b\"],\"labels\":{\"k\":\"\"},\"to\":{\"geo\":{\"lat\":1.5}},\"fragile\":true}"
    #expect(try lenient.normalize(json, "t.Parcel") == json)
    #expect(try lenient.decode("{\"id\":\"\"}", "t.Parcel") == Bench.standard.decode("{\"id\":\"\"}", "t.Parcel"))
  }

  /// A path's value stays in the message that a body gives in another form, and a mask names what is emptied.
  @Test func keepsWhatIsBoundElsewhere() throws {
    let to = try lenient.field("t.Parcel", "to")
    let street = try lenient.field("t.Address", "street")
    let bound = [BoundField(fieldPath: [to, street], wire: Wire.text(1, "here"))]
    var outcome = DecodingOutcome()
    outcome.collectsMask = true
    let wire = try lenient.decode(
      Array("{\"to\":\"\",\"weightG\":\"\"}".utf8), "t.Parcel", bound: bound, outcome: &outcome)
    #expect(wire == Wire.delimited(7, Wire.text(1, "here")))
    #expect(outcome.maskPaths == ["to", "weight_g"])
  }

  /// What says nothing of a field is as null in all that follows from it.
  @Test(arguments: [
    ("t.Parcel", "{\"to\":\"\"}", "{\"to\":null}"), ("t.Parcel", "{\"to\":false}", "{\"to\":null}"),
    ("t.Parcel", "{\"to\":{\"geo\":\"\"}}", "{\"to\":{\"geo\":null}}"),
    ("t.Parcel", "{\"weightG\":\"\",\"size\":\"\"}", "{\"weightG\":null,\"size\":null}"),
    ("t.Parcel", "{\"fragile\":\"\",\"floor\":\"\"}", "{\"fragile\":null,\"floor\":null}"),
    ("t.Parcel", "{\"created\":\"0000-00-00\",\"eta\":\"\"}", "{\"created\":null,\"eta\":null}"),
    ("t.Parcel", "{\"cash\":\"\",\"card\":\"x\"}", "{\"cash\":null,\"card\":\"x\"}"),
    ("t.Parcel", "{\"cheque\":\"\",\"cash\":5}", "{\"cheque\":null,\"cash\":5}"),
    ("t.Old", "{\"result\":\"\",\"closed\":\"\"}", "{\"result\":null,\"closed\":null}"),
  ])
  func whatIsUnsetIsAsNull(_ message: String, _ loose: String, _ null: String) throws {
    for isWatched in [false, true] {
      var seen = [DecodingOutcome(collectsMask: isWatched), DecodingOutcome(collectsMask: isWatched)]
      let wires = try [loose, null].enumerated().map { index, json in
        try lenient.decode(Array(json.utf8), message, outcome: &seen[index])
      }
      #expect(wires[0] == wires[1])
      #expect(seen[0].maskPaths == seen[1].maskPaths)
      #expect(seen[0].maskPaths.isEmpty != isWatched)
    }
  }

  @Test func aRequiredFieldThatIsUnsetIsMissing() throws {
    let bench = try ConformanceMessages.bench(JSONProfile(isLenient: true))
    for collectsMask in [false, true] {
      var outcome = DecodingOutcome(collectsMask: collectsMask)
      let error = #expect(throws: JSONError.self) {
        try bench.decode(
          Array("{\"requiredInt32\":\"\"}".utf8), ConformanceMessages.required, outcome: &outcome)
      }
      #expect(error?.kind == .missing)
      #expect(error?.path == "requiredInt32")
    }
  }

  /// PHP writes an object without members as an empty array, the outermost one too.
  @Test func anEmptyArrayIsAMessageWithoutMembers() throws {
    #expect(try lenient.decode(" [ ] ", "t.Parcel") == [])
    #expect(try lenient.decode("[]", "google.protobuf.Empty") == [])
    #expect(try lenient.normalize("{\"to\":{\"geo\":[]}}", "t.Parcel") == "{\"to\":{\"geo\":{}}}")
    for json in ["[1]", "[[]]", "[", "[]]", "[],[]"] { _ = try lenient.refusal(json, "t.Parcel") }
    #expect(try Bench.standard.refusal("[]", "t.Parcel").message.contains("an object expected, not an array"))
    let required = try ConformanceMessages.bench(JSONProfile(isLenient: true))
    for (json, path) in [
      ("[]", "requiredInt32"), ("{\"requiredInt32\":1,\"recursiveMessage\":[]}", "recursiveMessage.requiredInt32"),
    ] {
      let error = try required.refusal(json, ConformanceMessages.required)
      #expect(error.kind == .missing)
      #expect(error.path == path)
    }
  }

  @Test func anEmptyArrayKeepsWhatIsBoundInItsMessage() throws {
    let to = try lenient.field("t.Parcel", "to")
    let bound = [BoundField(fieldPath: [to, try lenient.field("t.Address", "street")], wire: Wire.text(1, "here"))]
    for json in ["[]", "{\"to\":[]}"] {
      var outcome = DecodingOutcome()
      let wire = try lenient.decode(Array(json.utf8), "t.Parcel", bound: bound, outcome: &outcome)
      #expect(wire == Wire.delimited(7, Wire.text(1, "here")))
    }
  }

  /// A field as the whole body: what says nothing of it leaves no half of it behind.
  @Test(arguments: ["\"\"", "false", "null", " \"\" "])
  func aFieldAsTheBodyMayBeUnset(_ json: String) throws {
    func body(_ name: String, _ bound: [BoundField]) throws -> [UInt8] {
      var output = ByteBuffer()
      output.append(0x2A)
      var outcome = DecodingOutcome()
      try lenient.codec.decodeField(
        Array(json.utf8).span, message: try lenient.index("t.Parcel"), field: try lenient.field("t.Parcel", name),
        bound: bound, outcome: &outcome, into: &output)
      return output.bytes
    }
    let city = BoundField(fieldPath: [try lenient.field("t.Address", "city")], wire: Wire.text(2, "c"))
    #expect(try body("to", []) == [0x2A])
    #expect(try body("to", [city]) == [0x2A] + Wire.delimited(7, Wire.text(2, "c")))
    if json != "false" { #expect(try body("created", []) == [0x2A]) }
  }

  /// Valid ProtoJSON is read as what it is: a mask without paths is one.
  @Test func anEmptyMaskIsAMask() throws {
    let name = "google.protobuf.FieldMask"
    for json in ["{\"\(name)\":\"\"}", "{\"\(name)\":\"a\"}"] {
      #expect(try lenient.decode(json, "t.WellKnown") == Bench.standard.decode(json, "t.WellKnown"))
    }
    let fields = lenient.codec.schema.messages[try lenient.index("t.WellKnown")].fields
    let field = try #require(fields.firstIndex { $0.jsonName == name })
    #expect(!lenient.codec.isAbsentWhenEmpty(message: try lenient.index("t.WellKnown"), field: field))
  }
}

@Suite struct LooseTimeTests {
  @Test(arguments: [
    ("2026-01-16 18:00:00", "2026-01-16T18:00:00Z"), ("2026-01-16T18:00:00", "2026-01-16T18:00:00Z"),
    ("2026-01-16t18:00:00z", "2026-01-16T18:00:00Z"), ("2026-01-16 18:00:00.25", "2026-01-16T18:00:00.250Z"),
    ("2026-01-16T18:00:00+0130", "2026-01-16T16:30:00Z"), ("2026-01-16T18:00:00-02", "2026-01-16T20:00:00Z"),
    ("2026-01-16T18:00:00+01:30", "2026-01-16T16:30:00Z"), ("2026-01-16", "2026-01-16T00:00:00Z"),
    ("2026-01-16T18:00:00.123456789+01:00", "2026-01-16T17:00:00.123456789Z"),
  ])
  func areUTCUnlessTheySayOtherwise(_ loose: String, _ strict: String) throws {
    for profile in [
      JSONProfile(isLenient: true), JSONProfile(timestamps: .local), JSONProfile(timestamps: .sql),
    ] {
      let wire = try Bench(profile).decode("{\"created\":\"\(loose)\"}", "t.Parcel")
      #expect(try wire == Bench.standard.decode("{\"created\":\"\(strict)\"}", "t.Parcel"))
    }
  }

  @Test(arguments: [
    "", "2026-01-16 18:00", "2026-13-16 18:00:00", "2026-01-16_18:00:00", "2026-01-16 18:00:00 +01:00",
    "16.01.2026 18:00",
    "2026-01-16 18:00:00.", "2026-01-16 18:00:00.1234567890", "2026-01-16T18:00:00.123456789+01:00x",
    "2026-01-16T18:00:00.123456789+01:00xxxxxxxxxxxxxxxxxxxx", "2026-01-1", "2026-01-16T18:00:00+1",
  ])
  func refusesOtherTexts(_ text: String) throws {
    _ = try Bench(JSONProfile(timestamps: .sql)).refusal(Array("{\"created\":\"\(text)\"}".utf8), "t.Parcel")
  }

  @Test(arguments: [
    (JSONProfile.Timestamps.rfc3339Milliseconds, "2026-01-16T18:00:00.000Z", "2026-01-16T18:00:00.123Z"),
    (.local, "2026-01-16T18:00:00", "2026-01-16T18:00:00.123456789"),
    (.sql, "2026-01-16 18:00:00", "2026-01-16 18:00:00.123456789"),
  ])
  func writesItsForm(_ form: JSONProfile.Timestamps, _ whole: String, _ fraction: String) throws {
    let bench = Bench(JSONProfile(timestamps: form))
    for (json, wanted) in [("2026-01-16T18:00:00Z", whole), ("2026-01-16T18:00:00.123456789Z", fraction)] {
      let wire = try Bench.standard.decode("{\"created\":\"\(json)\"}", "t.Parcel")
      #expect(try bench.encode(wire, "t.Parcel") == "{\"created\":\"\(wanted)\"}")
      #expect(try bench.decode("{\"created\":\"\(wanted)\"}", "t.Parcel").count > 0)
    }
  }
}
