import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// Every place at which the codec refuses something: the path, the byte and the words that a caller gets.
@Suite struct RefusalTests {
  // MARK: JSON

  struct Text: Sendable, CustomTestStringConvertible {
    let message: String
    /// With `^` before the byte that is at fault.
    let json: String
    let kind: JSONError.Kind
    let path: String
    let words: String
    var testDescription: String { json }
  }

  private static func text(
    _ json: String, _ kind: JSONError.Kind, _ path: String, _ words: String, of message: String = "t.Parcel"
  ) -> Text {
    Text(message: message, json: json, kind: kind, path: path, words: words)
  }

  static let texts = syntax + numbers + values + wellKnown + anys
  private static let syntax = [
    text("{\"id\":\"a\" ^x", .syntax, "", "\",\" or \"}\" expected"),
    text("{\"tags\":[\"a\" ^x", .syntax, "tags", "\",\" or \"]\" expected"),
    text("{\"id\" ^1}", .syntax, "id", "\":\" expected"), text("{}^{}", .syntax, "", "nothing more after the value"),
    text("{\"id\":\"a^", .syntax, "id", "the closing quote expected, but the text ends"),
    text("{\"id\":\"a^\n\"}", .syntax, "id", "control characters in a string must be escaped"),
    text("{\"id\":\"\\u0061^\n\"}", .syntax, "id", "control characters in a string must be escaped"),
    text("{\"id\":\"a^\\x\"}", .syntax, "id", "an escape of JSON expected after the backslash"),
    text("{\"id\":\"^\\u00g0\"}", .syntax, "id", "four hexadecimal digits expected"),
    text("{\"id\":\"^\\u00", .syntax, "id", "four hexadecimal digits expected"),
    text("{\"id\":\"^\\ud800\"}", .utf8, "id", "the second half of a surrogate pair expected"),
    text("{\"id\":\"^\\ud800\\u0061\"}", .utf8, "id", "the second half of a surrogate pair expected"),
    text("{\"id\":\"^\\udc00\"}", .utf8, "id", "the first half of a surrogate pair is missing"),
    text("{\"fragile\":^tru}", .type, "fragile", "true or false expected"),
    text("{\"fragile\":^}", .syntax, "fragile", "true or false expected"),
  ]
  private static let numbers = [
    text("{\"weightG\":^-}", .syntax, "weightG", "a number expected"),
    text("{\"weightG\":^01}", .syntax, "weightG", "a number without leading zeros expected"),
    text("{\"weightG\":^1.}", .syntax, "weightG", "digits after the decimal point expected"),
    text("{\"weightG\":^1e}", .syntax, "weightG", "digits of the exponent expected"),
    text("{\"weightG\":^1.5}", .type, "weightG", "a whole number expected"),
    text("{\"weightG\":^1e99}", .range, "weightG", "a number in the range of the field expected"),
    text(
      "{\"weightG\":^9223372036854775808}", .range, "weightG",
      "an integer from -9223372036854775808 to 9223372036854775807 expected"),
    text("{\"weightG\":^\"1x\"}", .type, "weightG", "an integer expected"),
    text("{\"weightG\":^\"\"}", .type, "weightG", "a number expected"),
    text("{\"weightG\":^true}", .type, "weightG", "an integer expected, not a boolean"),
    text("{\"insured\":^1e400}", .range, "insured", "a number in the range of a double expected"),
    text("{\"fFloat\":^3.5e38}", .range, "fFloat", "a number in the range of a float expected", of: "t.Scalars"),
    text("{\"insured\":^\"x\"}", .type, "insured", "a number expected"),
    text("{\"insured\":^\"1 \"}", .type, "insured", "a number expected"),
    text("{\"insured\":^[]}", .type, "insured", "a number expected, not an array"),
    text("{\"floor\":^2147483648}", .range, "floor", "an integer from -2147483648 to 2147483647 expected"),
  ]
  private static let values = [
    text("^null", .type, "", "an object expected, not null"),
    text("{\"to\":^1}", .type, "to", "an object expected, not a number"),
    text("{\"tags\":^\"a\"}", .type, "tags", "an array expected, not a string"),
    text("{\"tags\":[\"a\",^null]}", .type, "tags[1]", "a value expected, not null"),
    text("{\"sizes\":[0,^null]}", .type, "sizes[1]", "a value expected, not null"),
    text("{\"labels\":^[]}", .type, "labels", "an object expected, not an array"),
    text("{\"labels\":{\"a\":^null}}", .type, "labels.a", "a value expected, not null"),
    text("{\"labels\":{\"a\":\"\",^\"a\":\"\"}}", .duplicate, "labels.a", "each key of a map once"),
    text("{\"fBool\":{^\"1\":\"\"}}", .type, "fBool.1", "the key \"true\" or \"false\" expected", of: "t.Maps"),
    text("{\"fInt32\":{^1:\"\"}}", .type, "fInt32", "a string expected, not a number", of: "t.Maps"),
    text("{^\"nope\":1}", .unknownField, "nope", "a field of the message expected; this name is unknown"),
    text("{\"to\":{\"geo\":{^\"x\":1}}}", .unknownField, "to.geo.x", "this name is unknown"),
    text("{\"id\":\"\",^\"id\":\"\"}", .duplicate, "id", "each field once, in one spelling"),
    text("{\"card\":\"\",^\"cash\":1}", .conflict, "cash", "at most one member of the oneof expected"),
    text("{\"id\":^1}", .type, "id", "a string expected, not a number"),
    text("{\"seal\":^\"*\"}", .type, "seal", "base64 expected"),
    text("{\"seal\":^\"\\u002a\"}", .type, "seal", "base64 expected"),
    text("{\"size\":^\"NO\"}", .type, "size", "the name of an enum value expected"),
    text("{\"size\":^{}}", .type, "size", "the name or number of an enum value expected, not an object"),
    text("{\"closed\":^2}", .range, "closed", "a number of the enum expected", of: "t.Old"),
    text("{\"nothing\":^\"NO\"}", .type, "nothing", "null expected", of: "t.WellKnown"),
    text("{\"nothing\":^1}", .type, "nothing", "null expected", of: "t.WellKnown"),
  ]
  private static let wellKnown = [
    text("{\"created\":^\"yesterday\"}", .type, "created", "a timestamp such as 2026-01-31T12:00:00Z expected"),
    text("{\"created\":^\"2026-02-30T12:00:00Z\"}", .range, "created", "a date and time of the calendar expected"),
    text(
      "{\"created\":^\"0001-01-01T00:00:00+00:01\"}", .range, "created",
      "a timestamp of the years 0001 to 9999 expected"),
    text("{\"created\":^1}", .type, "created", "a string expected, not a number"),
    text("{\"eta\":^\"1h\"}", .type, "eta", "a duration such as 1.5s expected"),
    text("{\"eta\":^\"315576000001s\"}", .range, "eta", "a duration of at most 10000 years expected"),
    text("{\"eta\":^\"9999999999999999s\"}", .range, "eta", "a duration of at most 10000 years expected"),
    text("{\"w3\":^\"a,,b\"}", .type, "w3", "paths separated by single commas expected", of: "t.WellKnown"),
    text("{\"w3\":^\"a_b\"}", .type, "w3", "paths in lowerCamelCase expected", of: "t.WellKnown"),
    text("{\"extra\":^[]}", .type, "extra", "an object expected, not an array"),
    text("{\"extra\":{\"a\":1,^\"a\":2}}", .duplicate, "extra.a", "each member once"),
    text("{\"extra\":{\"a\":[1,^x]}}", .syntax, "extra.a[1]", "a JSON value expected"),
    text("{\"w6\":^{}}", .type, "w6", "an array expected, not an object", of: "t.WellKnown"),
  ]
  private static let anys = [
    text("{\"note\":^[]}", .type, "note", "an object expected, not an array"),
    text("{\"note\":^{\"lat\":1}}", .type, "note", "an object with @type expected"),
    text("{\"note\":^{\"@type\":\"t.Point\"}}", .type, "note", "a type URL such as type.googleapis.com/"),
    text("{\"note\":^{\"@type\":\"x/t.Nope\"}}", .type, "note", "a type of the schema expected in @type"),
    text("{\"note\":{\"@type\":^1}}", .type, "note.@type", "a string expected, not a number"),
    text("{\"note\":{\"@type\":\"x/t.Point\",^\"@type\":\"\"}}", .duplicate, "note.@type", "@type once"),
    text("{\"note\":{\"@type\":\"x/t.Point\",^\"x\":1}}", .unknownField, "note.x", "this name is unknown"),
    text("{\"note\":{\"@type\":\"x/t.Point\",\"lat\":^\"x\"}}", .type, "note.lat", "a number expected"),
    text(
      "{\"note\":^{\"@type\":\"x/google.protobuf.Duration\"}}", .type, "note",
      "an object with value expected for this @type"),
    text(
      "{\"note\":{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\",^\"value\":\"1s\"}}", .duplicate,
      "note.value", "value once"),
    text(
      "{\"note\":{\"@type\":\"x/google.protobuf.Duration\",\"value\":\"1s\",^\"@type\":\"x\"}}", .duplicate,
      "note.@type", "@type once"),
    text(
      "{\"note\":{\"@type\":\"x/google.protobuf.Duration\",\"value\":^\"1\"}}", .type, "note.value",
      "a duration such as 1.5s expected"),
  ]

  @Test(arguments: texts) func ofJSON(_ row: Text) throws {
    let bytes = Array(row.json.utf8)
    let mark = try #require(bytes.firstIndex(of: UInt8(ascii: "^")))
    let error = try Bench.standard.refusal(bytes[..<mark] + bytes[(mark + 1)...], row.message)
    #expect(error.kind == row.kind, "\(error)")
    #expect(error.path == row.path, "\(error)")
    #expect(error.offset == mark, "\(error)")
    #expect(error.reason.contains(row.words), "\(error)")
  }

  @Test func ofJSONThatIsNoUTF8() throws {
    for prefix in ["{\"id\":\"a", "{\"id\":\"\\n"] {
      let bytes = Array(prefix.utf8)
      let error = try Bench.standard.refusal(bytes + [0xFF] + Array("\"}".utf8), "t.Parcel")
      #expect(error.kind == .utf8)
      #expect(error.path == "id")
      #expect(error.offset == bytes.count)
    }
  }

  // MARK: Wire

  struct Bytes: Sendable, CustomTestStringConvertible {
    let message: String
    let wire: [UInt8]
    let kind: JSONError.Kind
    let path: String
    let offset: Int
    var testDescription: String { "\(path) \(wire)" }
  }

  private static func bytes(
    _ wire: [UInt8], _ kind: JSONError.Kind, _ path: String, _ offset: Int, of message: String = "t.Parcel"
  ) -> Bytes {
    Bytes(message: message, wire: wire, kind: kind, path: path, offset: offset)
  }

  /// What is no protobuf at all, or no message of the type: refused in both directions.
  static let malformed = [
    bytes([0x18], .wire, "weightG", 1), bytes([0x0A, 0x05, 0x61], .wire, "id", 1), bytes([0x07, 0x00], .wire, "", 0),
    bytes([0x0A, 0x00, 0x00, 0x01], .wire, "", 2),
    bytes(Wire.delimited(7, Wire.delimited(3, [0x09, 0x01])), .wire, "to.geo.lat", 5),
    bytes(Wire.delimited(17, []) + Wire.delimited(17, [0x11]), .wire, "route[1].lon", 7),
    bytes(Wire.text(5, "a") + Wire.delimited(5, [0x62, 0xFF]), .utf8, "tags[1]", 6),
    bytes(Wire.delimited(5, [0xFF]), .utf8, "tags[0]", 2), bytes(Wire.delimited(1, [0x61, 0xC0]), .utf8, "id", 3),
    bytes(Wire.delimited(6, Wire.text(1, "k") + Wire.delimited(2, [0xFF])), .utf8, "labels.k", 7),
    bytes(Wire.delimited(6, Wire.delimited(1, [0xFF])), .utf8, "labels", 4),
    bytes(Wire.delimited(6, [0x0A]), .wire, "labels", 3),
    bytes(Wire.delimited(20, [0x01, 0x80]), .wire, "sizes[1]", 4),
    bytes(
      Wire.delimited(61, Wire.text(1, "a") + Wire.delimited(2, [0x09, 0x01])), .wire, "vPoint.a.lat", 9, of: "t.Maps"),
    bytes(
      Wire.delimited(5, Wire.varint(1, .max) + Wire.delimited(2, [0xFF])), .utf8, "fInt32.-1", 15, of: "t.Maps"),
    bytes(
      Wire.delimited(8, Wire.varint(1, 1) + Wire.delimited(2, [0xFF])), .utf8, "fBool.true", 6, of: "t.Maps"),
    bytes([0x0B, 0x0A, 0x01, 0xFF, 0x0C], .utf8, "result.url", 3, of: "t.Old"),
    bytes([0x0B, 0x0A, 0x00], .wire, "result", 1, of: "t.Old"),
    bytes([0x13, 0x14, 0x13, 0x0A, 0x01, 0xFF, 0x14], .utf8, "results[1].url", 5, of: "t.Old"),
    bytes([0x0C], .wire, "", 1, of: "t.Old"),
  ]

  @Test(arguments: malformed) func ofMalformedBytes(_ row: Bytes) throws {
    for error in [
      try Bench.standard.encodingError(row.wire, row.message), Bench.standard.normalizingError(row.wire, row.message),
    ] {
      #expect(error.kind == row.kind, "\(error)")
      #expect(error.path == row.path, "\(error)")
      #expect(error.offset == row.offset, "\(error)")
      #expect(!error.reason.isEmpty)
    }
  }

  /// Messages that are fine as protobuf and have no JSON.
  static let unwritable = [
    bytes(Wire.delimited(9, Wire.varint(1, 1 << 60)), .range, "created", 2),
    bytes(Wire.delimited(10, Wire.varint(1, 1 << 60)), .range, "eta", 2),
    bytes(Wire.delimited(10, Wire.varint(1, 1) + Wire.varint(2, .max)), .range, "eta", 2),
    bytes(Wire.delimited(18, Wire.text(1, "x/t.Nope")), .type, "note", 5),
    bytes(Wire.delimited(18, Wire.text(1, "t.Point")), .type, "note", 5),
    bytes(
      Wire.delimited(18, Wire.text(1, "x/t.Point") + Wire.delimited(2, [0x09, 0x01])), .wire, "note.lat", 17),
    bytes(Wire.delimited(4, Wire.text(1, "Foo")), .range, "google.protobuf.FieldMask", 4, of: "t.WellKnown"),
    bytes(Wire.delimited(6, []), .range, "google.protobuf.Value", 2, of: "t.WellKnown"),
    bytes(
      Wire.delimited(12, Wire.delimited(1, Wire.text(1, "k") + Wire.delimited(2, Wire.fixed64(2, 0x7FF8 << 48)))),
      .range, "extra.k", 10),
    bytes(
      Wire.delimited(41, Wire.varint(1, 0)) + Wire.delimited(41, []), .range, "values[1]", 8, of: "t.WellKnown"),
  ]

  @Test(arguments: unwritable) func ofMessagesWithoutJSON(_ row: Bytes) throws {
    let error = try Bench.standard.encodingError(row.wire, row.message)
    #expect(error.kind == row.kind, "\(error)")
    #expect(error.path == row.path, "\(error)")
    #expect(error.offset == row.offset, "\(error)")
    #expect(!error.reason.isEmpty)
  }

  /// In bytes that had to be put in order path and offset are those of the message, and never in a copy.
  @Test func ofScatteredBytes() throws {
    let wire =
      Wire.text(1, "a") + Wire.delimited(7, Wire.delimited(3, [])) + Wire.text(1, "b")
      + Wire.delimited(7, Wire.delimited(3, [0x09, 0x01]))
    let written = try Bench.standard.encodingError(wire, "t.Parcel")
    #expect(written.path == "to.geo.lat")
    #expect(written.offset >= 0 && written.offset <= wire.count)
    let normal = Bench.standard.normalizingError(wire, "t.Parcel")
    #expect(normal.path == "to.geo")
    #expect(normal.offset == 15)
  }
}
