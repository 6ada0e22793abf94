import Bytes
import Testing
import TranslationTestSupport

@testable import ProtoJSON

@Suite struct WellKnownTests {
  private static let rows: [(String, String, String)] = [
    ("Timestamp", "\"1970-01-01T00:00:00Z\"", "\"1970-01-01T00:00:00Z\""),
    ("Timestamp", "\"0001-01-01T00:00:00Z\"", "\"0001-01-01T00:00:00Z\""),
    ("Timestamp", "\"9999-12-31T23:59:59.999999999Z\"", "\"9999-12-31T23:59:59.999999999Z\""),
    ("Timestamp", "\"2026-01-01T00:00:00.123456789+05:30\"", "\"2025-12-31T18:30:00.123456789Z\""),
    ("Timestamp", "\"2024-02-29T12:00:00-08:00\"", "\"2024-02-29T20:00:00Z\""),
    ("Timestamp", "\"1969-12-31T23:59:59.5Z\"", "\"1969-12-31T23:59:59.500Z\""),
    ("Timestamp", "\"2026-01-01T00:00:00.0Z\"", "\"2026-01-01T00:00:00Z\""),
    ("Timestamp", "\"2026-01-01T00:00:00.00001Z\"", "\"2026-01-01T00:00:00.000010Z\""),
    ("Timestamp", "\"2000-02-29T00:00:00\\u005a\"", "\"2000-02-29T00:00:00Z\""),
    ("Duration", "\"0s\"", "\"0s\""), ("Duration", "\"1.5s\"", "\"1.500s\""), ("Duration", "\"-0.5s\"", "\"-0.500s\""),
    ("Duration", "\"-1.000000001s\"", "\"-1.000000001s\""), ("Duration", "\"315576000000s\"", "\"315576000000s\""),
    ("Duration", "\"315576000000.999999999s\"", "\"315576000000.999999999s\""),
    ("Duration", "\"-315576000000.999999999s\"", "\"-315576000000.999999999s\""),
    ("Duration", "\"-315576000000s\"", "\"-315576000000s\""), ("Duration", "\"3.000001s\"", "\"3.000001s\""),
    ("FieldMask", "\"\"", "\"\""), ("FieldMask", "\"fooBar,baz.quxQuux\"", "\"fooBar,baz.quxQuux\""),
    ("DoubleValue", "0", "0"), ("DoubleValue", "\"NaN\"", "\"NaN\""), ("FloatValue", "1.5", "1.5"),
    ("Int64Value", "1", "\"1\""), ("UInt64Value", "\"0\"", "\"0\""), ("Int32Value", "\"5\"", "5"),
    ("UInt32Value", "7", "7"),
    ("BoolValue", "false", "false"), ("BoolValue", "true", "true"), ("StringValue", "\"\"", "\"\""),
    ("StringValue", "\"a\\n\"", "\"a\\n\""), ("BytesValue", "\"AQ\"", "\"AQ==\""),
    ("Struct", "{}", "{}"),
    (
      "Struct", " {\"a\": [1, \"x\", null, true, {\"b\": {}}], \"\": 1.5e3}",
      "{\"a\":[1,\"x\",null,true,{\"b\":{}}],\"\":1500}"
    ),
    ("ListValue", "[ ]", "[]"), ("ListValue", "[[],{},null]", "[[],{},null]"),
    ("Value", "null", "null"), ("Value", "1", "1"), ("Value", "\"x\"", "\"x\""), ("Value", "false", "false"),
    ("Value", "[null]", "[null]"), ("Value", "{\"a\":null}", "{\"a\":null}"), ("Empty", "{}", "{}"),
    ("Any", "{}", "{}"),
    (
      "Any", "{\"@type\":\"type.googleapis.com/t.Point\",\"lat\":1}",
      "{\"@type\":\"type.googleapis.com/t.Point\",\"lat\":1}"
    ),
    ("Any", "{\"lat\":1,\"@type\":\"x/t.Point\",\"lon\":2}", "{\"@type\":\"x/t.Point\",\"lat\":1,\"lon\":2}"),
    ("Any", "{\"lon\":{\"x\":1},\"lon\":2}", ""),
    ("Any", "{\"@type\":\"x/t.Point\"}", "{\"@type\":\"x/t.Point\"}"),
    ("Any", "{\"\\u0040type\":\"x/t.Poin\\u0074\",\"lat\":1}", "{\"@type\":\"x/t.Point\",\"lat\":1}"),
    (
      "Any", "{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\"}",
      "{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\"}"
    ),
    (
      "Any", "{\"value\":\"1s\",\"@type\":\"x/google.protobuf.Duration\"}",
      "{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\"}"
    ),
    (
      "Any", "{\"@type\":\"x/google.protobuf.Int32Value\",\"value\":0}",
      "{\"@type\":\"x/google.protobuf.Int32Value\",\"value\":0}"
    ),
    (
      "Any", "{\"@type\":\"x/google.protobuf.Value\",\"value\":null}",
      "{\"@type\":\"x/google.protobuf.Value\",\"value\":null}"
    ),
    (
      "Any", "{\"@type\":\"x/google.protobuf.Struct\",\"value\":{\"@type\":1}}",
      "{\"@type\":\"x/google.protobuf.Struct\",\"value\":{\"@type\":1}}"
    ),
    ("Any", "{\"@type\":\"x/google.protobuf.Empty\"}", "{\"@type\":\"x/google.protobuf.Empty\"}"),
    (
      "Any", "{\"@type\":\"x/google.protobuf.Any\",\"value\":{\"@type\":\"y/t.Point\",\"lat\":2}}",
      "{\"@type\":\"x/google.protobuf.Any\",\"value\":{\"@type\":\"y/t.Point\",\"lat\":2}}"
    ),
    (
      "Any", "{\"inner\":{\"note\":{\"lat\":3,\"@type\":\"x/t.Point\"}},\"@type\":\"x/t.Parcel\"}",
      "{\"@type\":\"x/t.Parcel\",\"inner\":{\"note\":{\"@type\":\"x/t.Point\",\"lat\":3}}}"
    ),
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    let type: String
    let json: String
    let expected: String
    var testDescription: String { "\(type) \(json)" }
  }

  static let accepted = rows.filter { !$0.2.isEmpty }.map { Row(type: $0.0, json: $0.1, expected: $0.2) }

  @Test(arguments: accepted) func accepts(_ row: Row) throws {
    let name = "google.protobuf.\(row.type)"
    #expect(try Bench.standard.normalize(row.json, name) == row.expected)
    // The same as a field of a message.
    #expect(
      try Bench.standard.normalize("{\"\(name)\":\(row.json)}", "t.WellKnown") == "{\"\(name)\":\(row.expected)}")
  }

  private static let refusedRows: [(String, String, JSONError.Kind)] = [
    ("Timestamp", "\"2026-01-01t00:00:00Z\"", .type), ("Timestamp", "\"2026-01-01T00:00:00z\"", .type),
    ("Timestamp", "\"2026-01-01T00:00:00\"", .type), ("Timestamp", "\"2026-01-01 00:00:00Z\"", .type),
    ("Timestamp", "\"2026-1-01T00:00:00Z\"", .type), ("Timestamp", "\"2026-01-01T00:00Z\"", .type),
    ("Timestamp", "\"2026-01-01T00:00:00.Z\"", .type), ("Timestamp", "\"2026-01-01T00:00:00.1234567890Z\"", .type),
    ("Timestamp", "\"2026-01-01T00:00:00+0530\"", .type), ("Timestamp", "\"2026-01-01T00:00:00+24:00\"", .type),
    ("Timestamp", "\"2026-01-01T00:00:00Zx\"", .type), ("Timestamp", "\"\"", .type),
    ("Timestamp", "\"1767225600\"", .type),
    ("Timestamp", "\"2026-02-29T00:00:00Z\"", .range), ("Timestamp", "\"1900-02-29T00:00:00Z\"", .range),
    ("Timestamp", "\"2026-13-01T00:00:00Z\"", .range), ("Timestamp", "\"2026-00-01T00:00:00Z\"", .range),
    ("Timestamp", "\"2026-01-00T00:00:00Z\"", .range), ("Timestamp", "\"2026-01-01T24:00:00Z\"", .range),
    ("Timestamp", "\"2026-01-01T00:60:00Z\"", .range), ("Timestamp", "\"2026-06-30T23:59:60Z\"", .range),
    ("Timestamp", "\"0000-01-01T00:00:00Z\"", .range), ("Timestamp", "\"0001-01-01T00:00:00+00:01\"", .range),
    ("Timestamp", "\"9999-12-31T23:59:59-00:01\"", .range), ("Timestamp", "1767225600", .type),
    ("Timestamp", "{}", .type),
    ("Duration", "\"1\"", .type), ("Duration", "\"1h\"", .type), ("Duration", "\"s\"", .type),
    ("Duration", "\"1.s\"", .type),
    ("Duration", "\".5s\"", .type), ("Duration", "\"1.0000000001s\"", .type), ("Duration", "\"+1s\"", .type),
    ("Duration", "\" 1s\"", .type),
    ("Duration", "\"1s \"", .type), ("Duration", "\"315576000001s\"", .range),
    ("Duration", "\"315576000001s\"", .range),
    ("Duration", "\"99999999999999999999s\"", .range), ("Duration", "1", .type), ("Duration", "\"\"", .type),
    ("FieldMask", "\"foo_bar\"", .type), ("FieldMask", "\"a,,b\"", .type), ("FieldMask", "\",\"", .type),
    ("FieldMask", "[]", .type),
    ("Int32Value", "\"x\"", .type), ("Int32Value", "2147483648", .range), ("BoolValue", "\"true\"", .type),
    ("StringValue", "1", .type),
    ("Struct", "[]", .type), ("Struct", "{\"a\":1,\"a\":2}", .duplicate), ("Struct", "{\"a\":1e999}", .range),
    ("Struct", "{\"a\":NaN}", .syntax), ("ListValue", "{}", .type), ("ListValue", "[1,]", .syntax),
    ("Value", "", .syntax),
    ("Value", "nul", .syntax), ("Value", "[01]", .syntax), ("Empty", "{\"a\":1}", .unknownField),
    ("Empty", "null", .type),
    ("Any", "{\"lat\":1}", .type), ("Any", "{\"@type\":\"\"}", .type), ("Any", "{\"@type\":\"t.Point\"}", .type),
    ("Any", "{\"@type\":\"x/\"}", .type), ("Any", "{\"@type\":\"x/t.Nope\"}", .type), ("Any", "{\"@type\":1}", .type),
    ("Any", "{\"@type\":\"x/t.Point\",\"nope\":1}", .unknownField),
    ("Any", "{\"@type\":\"x/t.Point\",\"@type\":\"x/t.Point\"}", .duplicate),
    ("Any", "{\"@type\":\"x/google.protobuf.Duration\"}", .type),
    ("Any", "{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\",\"value\":\"1s\"}", .duplicate),
    (
      "Any", "{\"@type\":\"x/google.protobuf.Duration\",\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\"}",
      .duplicate
    ),
    ("Any", "{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\",\"seconds\":1}", .unknownField),
    ("Any", "{\"@type\":\"x/t.Point\",\"lat\":1", .syntax), ("Any", "{\"lat\":1,}", .syntax), ("Any", "[]", .type),
  ]

  struct Refused: Sendable, CustomTestStringConvertible {
    let type: String
    let json: String
    let kind: JSONError.Kind
    var testDescription: String { "\(type) \(json)" }
  }

  static let refused = refusedRows.map { Refused(type: $0.0, json: $0.1, kind: $0.2) }

  @Test(arguments: refused) func refuses(_ row: Refused) throws {
    let error = try Bench.standard.refusal(row.json, "google.protobuf.\(row.type)")
    #expect(error.kind == row.kind, "\(error)")
  }

  @Test func nullsAndLists() throws {
    let bench = Bench.standard
    #expect(try bench.normalize("{\"nothing\":null}", "t.WellKnown") == "{}")
    #expect(try bench.normalize("{\"nothing\":\"NULL_VALUE\"}", "t.WellKnown") == "{}")
    #expect(
      try bench.normalize("{\"google.protobuf.Value\":null}", "t.WellKnown") == "{\"google.protobuf.Value\":null}")
    #expect(try bench.normalize("{\"values\":[null,1,[null]]}", "t.WellKnown") == "{\"values\":[null,1,[null]]}")
    #expect(try bench.refusal("{\"times\":[null]}", "t.WellKnown").path == "times[0]")
    #expect(
      try bench.refusal("{\"anys\":[{},{\"@type\":\"x/t.Point\",\"lat\":\"q\"}]}", "t.WellKnown").path == "anys[1].lat")
    #expect(try bench.refusal("{\"nothing\":1}", "t.WellKnown").kind == .type)
    #expect(
      try bench.normalize("{\"google.api.HttpBody\":{\"contentType\":\"a\"}}", "t.WellKnown")
        == "{\"google.api.HttpBody\":{\"contentType\":\"a\"}}")
  }

  @Test func nestedAnyWithLateTypesIsBounded() throws {
    var json = "{\"lat\":1,\"@type\":\"x/t.Point\"}"
    for _ in 0..<40 { json = "{\"value\":\(json),\"@type\":\"x/google.protobuf.Any\"}" }
    #expect(try Bench.standard.refusal(json, "google.protobuf.Any").kind == .depth)
    var early = "{\"@type\":\"x/t.Point\",\"lat\":1}"
    for _ in 0..<40 { early = "{\"@type\":\"x/google.protobuf.Any\",\"value\":\(early)}" }
    #expect(try Bench.standard.normalize(early, "google.protobuf.Any") == early)
  }

  @Test func daysOfAllYearsComeBack() {
    for day in stride(from: -719_162, through: 2_932_896, by: 13) {
      let date = GregorianCalendar.date(days: day)
      #expect(GregorianCalendar.days(year: date.year, month: date.month, day: date.day) == day)
    }
    #expect(GregorianCalendar.date(days: -719_162) == (1, 1, 1))
    #expect(GregorianCalendar.date(days: 2_932_896) == (9999, 12, 31))
  }

  /// Keys of maps may stand in a path: any text.
  @Test func maskPathsOfAnyTextComeBack() throws {
    for json in [#""labels.`é \"\\ \u0001 b`""#, #""a b,*,x.1""#, "\"\u{7F}\""] {
      #expect(try Bench.standard.normalize(json, "google.protobuf.FieldMask") == json)
    }
  }

  @Test func wireValuesWithoutJSONAreRefused() throws {
    let bench = Bench.standard
    #expect(try bench.encodingError(Wire.varint(1, 253_402_300_800), "google.protobuf.Timestamp").kind == .range)
    #expect(try bench.encodingError(Wire.varint(2, 1_000_000_000), "google.protobuf.Timestamp").kind == .range)
    #expect(try bench.encodingError(Wire.varint(2, UInt64(bitPattern: -1)), "google.protobuf.Timestamp").kind == .range)
    #expect(try bench.encodingError(Wire.varint(1, 315_576_000_001), "google.protobuf.Duration").kind == .range)
    let mixed = Wire.varint(1, 1) + Wire.varint(2, UInt64(bitPattern: -1))
    #expect(try bench.encodingError(mixed, "google.protobuf.Duration").kind == .range)
    #expect(try bench.encodingError(Wire.varint(1, UInt64(1) << 63), "google.protobuf.Duration").kind == .range)
    for path in ["fooBar", "foo_3_bar", "foo__bar", "foo_", "a,b", ""] {
      #expect(try bench.encodingError(Wire.text(1, path), "google.protobuf.FieldMask").kind == .range, "\(path)")
    }
    #expect(try bench.encodingError(Wire.delimited(1, [0xFF]), "google.protobuf.FieldMask").kind == .utf8)
    #expect(try bench.encodingError([], "google.protobuf.Value").kind == .range)
    #expect(try bench.encodingError(Wire.fixed64(2, Double.nan.bitPattern), "google.protobuf.Value").kind == .range)
    #expect(try bench.encodingError(Wire.text(1, "x/t.Nope"), "google.protobuf.Any").kind == .type)
    let parcel = Wire.delimited(9, Wire.varint(2, 1_000_000_000))
    #expect(try bench.encodingError(Wire.delimited(22, parcel), "t.Parcel").path == "inner.created")
  }
}
