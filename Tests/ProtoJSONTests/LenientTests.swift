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
    #expect(outcome.maskPaths.contains("weight_g"))
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
