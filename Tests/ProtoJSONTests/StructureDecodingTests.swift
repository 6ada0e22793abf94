import Testing
import TranslationTestSupport

@testable import ProtoJSON

@Suite struct StructureDecodingTests {
  /// Message, JSON, and what is written back.
  private static let rows: [(String, String, String)] = [
    ("t.Parcel", "{}", "{}"),
    ("t.Parcel", " \n\t\r{ \"id\" : \"a\" , \"trackingNo\" : \"b\" } \r\n", "{\"id\":\"a\",\"trackingNo\":\"b\"}"),
    ("t.Parcel", "{\"tracking_no\":\"b\"}", "{\"trackingNo\":\"b\"}"),
    ("t.Parcel", "{\"\\u0069d\":\"a\"}", "{\"id\":\"a\"}"),
    ("t.Parcel", "{\"f[\\\"x\\\"]\":\"a\"}", "{\"f[\\\"x\\\"]\":\"a\"}"),
    ("t.Parcel", "{\"odd\":\"a\"}", "{\"f[\\\"x\\\"]\":\"a\"}"),
    ("t.Parcel", "{\"id\":null,\"tags\":null,\"labels\":null,\"to\":null,\"created\":null,\"floor\":null}", "{}"),
    ("t.Parcel", "{\"to\":{}}", "{\"to\":{}}"),
    ("t.Parcel", "{\"to\":{\"geo\":{\"lat\":1}}}", "{\"to\":{\"geo\":{\"lat\":1}}}"),
    ("t.Parcel", "{\"tags\":[]}", "{}"), ("t.Parcel", "{\"tags\":[\"\",\"a\"]}", "{\"tags\":[\"\",\"a\"]}"),
    ("t.Parcel", "{\"route\":[{},{\"lon\":2}]}", "{\"route\":[{},{\"lon\":2}]}"),
    ("t.Parcel", "{\"labels\":{}}", "{}"),
    ("t.Parcel", "{\"labels\":{\"\":\"\",\"a\":\"b\"}}", "{\"labels\":{\"\":\"\",\"a\":\"b\"}}"),
    ("t.Parcel", "{\"card\":\"\"}", "{\"card\":\"\"}"), ("t.Parcel", "{\"cash\":0}", "{\"cash\":0}"),
    ("t.Parcel", "{\"card\":null,\"cash\":1}", "{\"cash\":1}"),
    ("t.Parcel", "{\"size\":\"SIZE_S\"}", "{\"size\":\"SIZE_S\"}"),
    ("t.Parcel", "{\"size\":\"SIZE_BIG\"}", "{\"size\":\"SIZE_L\"}"),
    ("t.Parcel", "{\"size\":2}", "{\"size\":\"SIZE_L\"}"), ("t.Parcel", "{\"size\":99}", "{\"size\":99}"),
    ("t.Parcel", "{\"size\":-7}", "{\"size\":\"SIZE_XL\"}"), ("t.Parcel", "{\"size\":\"SIZE_UNSPECIFIED\"}", "{}"),
    ("t.Parcel", "{\"size\":\"\\u0053IZE_S\"}", "{\"size\":\"SIZE_S\"}"),
    ("t.Parcel", "{\"size\":1e0}", "{\"size\":\"SIZE_S\"}"),
    ("t.Parcel", "{\"sizes\":[\"SIZE_S\",0,-7]}", "{\"sizes\":[\"SIZE_S\",\"SIZE_UNSPECIFIED\",\"SIZE_XL\"]}"),
    (
      "t.Old", "{\"result\":{\"url\":\"u\"},\"results\":[{},{\"url\":\"\"}]}",
      "{\"result\":{\"url\":\"u\"},\"results\":[{},{\"url\":\"\"}]}"
    ),
    (
      "t.Old", "{\"closed\":\"CLOSED_A\",\"numbers\":[1,2],\"count\":0}",
      "{\"closed\":\"CLOSED_A\",\"numbers\":[1,2],\"count\":0}"
    ),
    ("t.Old", "{\"closed\":5,\"[t.ext.priority]\":3}", "{\"closed\":\"CLOSED_B\",\"[t.ext.priority]\":3}"),
    (
      "t.Old", "{\"result\":{\"old\":{\"result\":{\"url\":\"x\"}}}}",
      "{\"result\":{\"old\":{\"result\":{\"url\":\"x\"}}}}"
    ),
    ("t.Maps", "{\"fInt32\":{\"-1\":\"a\",\"0\":\"b\"}}", "{\"fInt32\":{\"-1\":\"a\",\"0\":\"b\"}}"),
    ("t.Maps", "{\"fUint64\":{\"18446744073709551615\":\"a\"}}", "{\"fUint64\":{\"18446744073709551615\":\"a\"}}"),
    ("t.Maps", "{\"fBool\":{\"true\":\"a\",\"false\":\"b\"}}", "{\"fBool\":{\"true\":\"a\",\"false\":\"b\"}}"),
    (
      "t.Maps", "{\"fBool\":{\"tr\\u0075e\":\"a\",\"\\u0066alse\":\"b\"}}",
      "{\"fBool\":{\"true\":\"a\",\"false\":\"b\"}}"
    ),
    ("t.WellKnown", "{\"nothing\":\"NULL\\u005fVALUE\"}", "{}"),
    ("t.Maps", "{\"fInt32\":{\"\\u0031\":\"a\"}}", "{\"fInt32\":{\"1\":\"a\"}}"),
    ("t.Maps", "{\"fString\":{\"\\u0061\":\"a\"}}", "{\"fString\":{\"a\":\"a\"}}"),
    ("t.Maps", "{\"vSize\":{\"a\":\"SIZE_S\",\"b\":7}}", "{\"vSize\":{\"a\":\"SIZE_S\",\"b\":7}}"),
    ("t.Maps", "{\"vPoint\":{\"a\":{\"lat\":1},\"b\":{}}}", "{\"vPoint\":{\"a\":{\"lat\":1},\"b\":{}}}"),
    ("t.Maps", "{\"vAnyJson\":{\"a\":null,\"b\":[1,null]}}", "{\"vAnyJson\":{\"a\":null,\"b\":[1,null]}}"),
    (
      "t.Maps", "{\"vInt64\":{\"a\":1},\"vBytes\":{\"a\":\"AQ\"}}",
      "{\"vInt64\":{\"a\":\"1\"},\"vBytes\":{\"a\":\"AQ==\"}}"
    ),
    (
      "t.Wide", "{\"fieldNumber299OfMany\":1,\"field_number_150_of_many\":2,\"fieldNumber0OfMany\":3}",
      "{\"fieldNumber299OfMany\":1,\"fieldNumber150OfMany\":2,\"fieldNumber0OfMany\":3}"
    ),
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    let message: String
    let json: String
    let expected: String
    var testDescription: String { json }
  }

  static let accepted = rows.map { Row(message: $0.0, json: $0.1, expected: $0.2) }

  /// A letter of any string may be written as an escape: names, keys, and texts that stand for values.
  @Test func everyStringMayBeEscaped() throws {
    let rows: [(message: String, json: String)] = [
      ("t.Maps", #"{"fBool":{"true":"a","false":"b"}}"#), ("t.Maps", #"{"fInt32":{"-1":"a"},"fUint64":{"7":"b"}}"#),
      ("t.Maps", #"{"vBool":{"k":true},"vBytes":{"k":"AQI="},"vDouble":{"k":"NaN"},"vSize":{"k":"SIZE_L"}}"#),
      ("t.WellKnown", #"{"nothing":"NULL_VALUE"}"#), ("t.Parcel", #"{"size":"SIZE_S","weightG":"12","seal":"-_8"}"#),
      ("t.Parcel", #"{"created":"2026-01-01T00:00:00Z","eta":"1.5s","floor":"3","insured":"-Infinity"}"#),
      ("t.Parcel", #"{"note":{"@type":"x/google.protobuf.Duration","value":"1s"}}"#),
      ("t.Old", #"{"[t.ext.priority]":1}"#),
      ("google.protobuf.FieldMask", #""fooBar,x.y""#),
    ]
    for (message, json) in rows {
      var isInside = false
      let escaped = json.unicodeScalars.map { scalar in
        if scalar == "\"" {
          isInside.toggle()
          return "\""
        }
        let digits = String(scalar.value, radix: 16)
        return isInside ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits : "\(scalar)"
      }
      #expect(try Bench.standard.decode(escaped.joined(), message) == Bench.standard.decode(json, message), "\(json)")
    }
  }

  @Test(arguments: accepted) func accepts(_ row: Row) throws {
    #expect(try Bench.standard.normalize(row.json, row.message) == row.expected)
  }

  private static let refusedRows: [(String, String, JSONError.Kind, String, Int)] = [
    ("t.Parcel", "", .syntax, "", 0), ("t.Parcel", "  ", .syntax, "", 2), ("t.Parcel", "null", .type, "", 0),
    ("t.Parcel", "[]", .type, "", 0), ("t.Parcel", "\"a\"", .type, "", 0), ("t.Parcel", "{", .syntax, "", 1),
    ("t.Parcel", "{\"id\"", .syntax, "id", 5), ("t.Parcel", "{\"id\":", .syntax, "id", 6),
    ("t.Parcel", "{\"id\":\"a", .syntax, "id", 8),
    ("t.Parcel", "{\"id\":\"a\"", .syntax, "", 9), ("t.Parcel", "{\"id\":\"a\",", .syntax, "", 10),
    ("t.Parcel", "{\"id\":\"a\",}", .syntax, "", 10), ("t.Parcel", "{\"id\":\"a\"} x", .syntax, "", 11),
    ("t.Parcel", "{}{}", .syntax, "", 2), ("t.Parcel", "{,}", .syntax, "", 1), ("t.Parcel", "{id:1}", .syntax, "", 1),
    ("t.Parcel", "{'id':1}", .syntax, "", 1), ("t.Parcel", "{\"id\" \"a\"}", .syntax, "id", 6),
    ("t.Parcel", "{\"id\":\"a\" \"tags\":[]}", .syntax, "", 10), ("t.Parcel", "{/**/}", .syntax, "", 1),
    ("t.Parcel", "\u{feff}{}", .syntax, "", 0), ("t.Parcel", "{\"fragile\":truex}", .syntax, "", 15),
    ("t.Parcel", "{\"weightG\":0x1}", .syntax, "", 12), ("t.Parcel", "{\u{0c}}", .syntax, "", 1),
    ("t.Parcel", "{\"nope\":1}", .unknownField, "nope", 1), ("t.Parcel", "{\"ID\":\"a\"}", .unknownField, "ID", 1),
    ("t.Parcel", "{\"to\":{\"nope\":null}}", .unknownField, "to.nope", 7),
    ("t.Parcel", "{\"route\":[{},{\"x\":1}]}", .unknownField, "route[1].x", 14),
    ("t.Parcel", "{\"id\":\"a\",\"id\":\"a\"}", .duplicate, "id", 10),
    ("t.Parcel", "{\"trackingNo\":\"a\",\"tracking_no\":\"b\"}", .duplicate, "tracking_no", 18),
    ("t.Parcel", "{\"id\":null,\"id\":\"a\"}", .duplicate, "id", 11),
    ("t.Parcel", "{\"id\":\"a\",\"i\\u0064\":\"a\"}", .duplicate, "i\\u0064", 10),
    ("t.Parcel", "{\"labels\":{\"a\":\"1\",\"a\":\"1\"}}", .duplicate, "labels.a", 19),
    ("t.Parcel", "{\"labels\":{\"a\":\"1\",\"\\u0061\":\"1\"}}", .duplicate, "labels.\\u0061", 19),
    ("t.Maps", "{\"fInt32\":{\"1\":\"a\",\"1.0\":\"b\"}}", .duplicate, "fInt32.1.0", 19),
    ("t.Parcel", "{\"card\":\"a\",\"cash\":1}", .conflict, "cash", 12),
    ("t.Parcel", "{\"cheque\":{},\"cash\":1}", .conflict, "cash", 13),
    ("t.Parcel", "{\"tags\":\"a\"}", .type, "tags", 8), ("t.Parcel", "{\"tags\":{}}", .type, "tags", 8),
    ("t.Parcel", "{\"tags\":[\"a\",null]}", .type, "tags[1]", 13),
    ("t.Parcel", "{\"tags\":[\"a\",]}", .syntax, "tags[1]", 13),
    ("t.Parcel", "{\"tags\":[\"a\" \"b\"]}", .syntax, "tags", 13),
    ("t.Parcel", "{\"tags\":[\"a\"}", .syntax, "tags", 12),
    ("t.Parcel", "{\"route\":[null]}", .type, "route[0]", 10), ("t.Parcel", "{\"labels\":[]}", .type, "labels", 10),
    ("t.Parcel", "{\"labels\":{\"a\":null}}", .type, "labels.a", 15),
    ("t.Parcel", "{\"labels\":{\"a\":1}}", .type, "labels.a", 15),
    ("t.Parcel", "{\"to\":[]}", .type, "to", 6),
    ("t.Parcel", "{\"to\":{\"geo\":{\"lat\":\"x\"}}}", .type, "to.geo.lat", 20),
    ("t.Parcel", "{\"size\":\"size_s\"}", .type, "size", 8), ("t.Parcel", "{\"size\":\"\"}", .type, "size", 8),
    ("t.Parcel", "{\"size\":\"S\"}", .type, "size", 8), ("t.Parcel", "{\"size\":true}", .type, "size", 8),
    ("t.Parcel", "{\"size\":1.5}", .type, "size", 8), ("t.Parcel", "{\"size\":2147483648}", .range, "size", 8),
    ("t.Parcel", "{\"sizes\":[\"SIZE_S\",\"x\"]}", .type, "sizes[1]", 19),
    ("t.Old", "{\"closed\":2}", .range, "closed", 10), ("t.Old", "{\"priority\":1}", .unknownField, "priority", 1),
    ("t.Old", "{\"t.ext.priority\":1}", .unknownField, "t.ext.priority", 1),
    ("t.Old", "{\"result\":[]}", .type, "result", 10),
    ("t.Maps", "{\"fInt32\":{\"a\":\"b\"}}", .type, "fInt32.a", 11),
    ("t.Maps", "{\"fInt32\":{1:\"b\"}}", .type, "fInt32", 11),
    ("t.Maps", "{\"fBool\":{\"1\":\"b\"}}", .type, "fBool.1", 10),
    ("t.Maps", "{\"fBool\":{true:\"b\"}}", .type, "fBool", 10),
    ("t.Maps", "{\"fUint32\":{\"-1\":\"b\"}}", .range, "fUint32.-1", 12),
    ("t.Wide", "{\"fieldNumber300OfMany\":1}", .unknownField, "fieldNumber300OfMany", 1),
    ("t.Wide", "{\"fieldNumber299OfMany\":1,\"fieldNumber299OfMany\":1}", .duplicate, "fieldNumber299OfMany", 26),
  ]

  struct Refused: Sendable, CustomTestStringConvertible {
    let message: String
    let json: String
    let kind: JSONError.Kind
    let path: String
    let offset: Int
    var testDescription: String { json }
  }

  static let refused = refusedRows.map { Refused(message: $0.0, json: $0.1, kind: $0.2, path: $0.3, offset: $0.4) }

  @Test(arguments: refused) func refuses(_ row: Refused) throws {
    let error = try Bench.standard.refusal(row.json, row.message)
    #expect(error.kind == row.kind, "\(error)")
    #expect(error.path == row.path, "\(error)")
    #expect(error.offset == row.offset, "\(error)")
    #expect(!error.reason.isEmpty)
  }

  @Test func nestingIsLimited() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "{\"inner\":", count: levels - 1) + "{}" + String(repeating: "}", count: levels - 1)
    }
    _ = try Bench.standard.decode(nested(100), "t.Parcel")
    #expect(try Bench.standard.refusal(nested(101), "t.Parcel").kind == .depth)
    let list = String(repeating: "[", count: 99) + String(repeating: "]", count: 99)
    _ = try Bench.standard.decode("{\"a\":\(list)}", "google.protobuf.Struct")
    #expect(try Bench.standard.refusal("{\"a\":[\(list)]}", "google.protobuf.Struct").kind == .depth)
    let lenient = Bench(JSONProfile(unknownFields: .ignore))
    #expect(try lenient.decode("{\"nope\":\(list)}", "t.Parcel") == [])
    #expect(try lenient.refusal("{\"nope\":[\(list)]}", "t.Parcel").kind == .depth)
    #expect(try lenient.refusal("{\"nope\":\(String(repeating: "[", count: 200_000))", "t.Parcel").kind == .depth)
  }

  @Test func aRefusalLeavesTheOutputAlone() throws {
    var outcome = DecodingOutcome(collectsMask: true)
    #expect(throws: JSONError.self) {
      try Bench.standard.decode(Array("{\"id\":\"a\",\"nope\":1}".utf8), "t.Parcel", outcome: &outcome)
    }
    #expect(outcome == DecodingOutcome(collectsMask: true))
  }

  @Test func keysThatDifferLittleAreDifferent() throws {
    // Zero bytes, lengths and blocks of eight are what a weak hash mixes up.
    var keys: Set<String> = []
    for length in 0..<40 {
      for mark in ["\\u0000", "\\u0001", "a", "\\u0002"] {
        keys.insert(String(repeating: "\\u0000", count: length))
        keys.insert(mark + String(repeating: "\\u0000", count: length))
        keys.insert(String(repeating: "\\u0000", count: length) + mark)
      }
    }
    for number in 0..<2_000 { keys.insert("key\(number)") }
    let json = "{\"labels\":{" + keys.sorted().map { "\"\($0)\":\"\"" }.joined(separator: ",") + "}}"
    let wire = try Bench.standard.decode(json, "t.Parcel")
    #expect(try Bench.standard.decode(try Bench.standard.encode(wire, "t.Parcel"), "t.Parcel") == wire)
    let numbers = "{\"fInt64\":{" + (-3_000..<3_000).map { "\"\($0)\":\"\"" }.joined(separator: ",") + "}}"
    #expect(try Bench.standard.normalize(numbers, "t.Maps") == numbers)
  }

  @Test func lengthsAreCanonical() throws {
    for length in [0, 1, 100, 127, 128, 129, 16_383, 16_384, 70_000] {
      let text = String(repeating: "a", count: length)
      let escaped = length == 0 ? "" : "\\u0061" + text.dropFirst()
      let point = "{\"to\":{\"street\":\"\(escaped)\"}}"
      let inner = length == 0 ? [] : Wire.text(1, text)
      #expect(try Bench.standard.decode(point, "t.Parcel") == Wire.delimited(7, inner))
    }
  }

  @Test func messagesAndAddressesReadWell() throws {
    let error = try Bench.standard.refusal("{\"route\":[{},{},{},{\"lat\":true}]}", "t.Parcel")
    #expect(error.message == "route[3].lat: a number expected, not a boolean (at byte 26)")
  }
}
