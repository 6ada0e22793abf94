import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

@Suite struct TextTests {
  private func decode(_ text: String, _ message: String, _ name: String, _ bench: Bench = .standard) throws -> [UInt8] {
    var output = ByteBuffer()
    try bench.codec.decodeText(
      Array(text.utf8).span, message: try bench.index(message), field: try bench.field(message, name), into: &output)
    return output.bytes
  }

  private func encode(_ payload: [UInt8], _ message: String, _ name: String, _ bench: Bench = .standard) throws
    -> String
  {
    var output = ByteBuffer()
    try bench.codec.encodeText(
      payload.span, message: try bench.index(message), field: try bench.field(message, name), into: &output)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  private static let rows: [(String, String, String, String)] = [
    ("t.Scalars", "f_int32", "-5", "-5"), ("t.Scalars", "f_int64", "9007199254740993", "9007199254740993"),
    ("t.Scalars", "f_uint64", "18446744073709551615", "18446744073709551615"), ("t.Scalars", "f_sint32", "-1", "-1"),
    ("t.Scalars", "f_sint64", "-1", "-1"), ("t.Scalars", "f_uint32", "7", "7"),
    ("t.Scalars", "f_fixed32", "1e2", "100"),
    ("t.Scalars", "f_fixed64", "2", "2"), ("t.Scalars", "f_sfixed32", "-2", "-2"),
    ("t.Scalars", "f_sfixed64", "-2", "-2"),
    ("t.Scalars", "f_int32", "0", "0"), ("t.Scalars", "f_bool", "true", "true"),
    ("t.Scalars", "f_bool", "false", "false"),
    ("t.Scalars", "f_double", "1.50", "1.5"), ("t.Scalars", "f_double", "NaN", "NaN"),
    ("t.Scalars", "f_float", "-Infinity", "-Infinity"),
    ("t.Scalars", "f_string", "", ""), ("t.Scalars", "f_string", "a \"b\" \\ä", "a \"b\" \\ä"),
    ("t.Scalars", "f_bytes", "+/8=", "-_8"),
    ("t.Scalars", "f_bytes", "-_8", "-_8"), ("t.Lists", "f_int32", "4", "4"), ("t.Parcel", "size", "SIZE_S", "SIZE_S"),
    ("t.Parcel", "size", "SIZE_BIG", "SIZE_L"), ("t.Parcel", "size", "1", "SIZE_S"), ("t.Parcel", "size", "42", "42"),
    ("t.Parcel", "sizes", "SIZE_L", "SIZE_L"), ("t.Parcel", "tags", "a,b", "a,b"),
    ("t.Parcel", "created", "2026-01-01T00:00:00.5+01:00", "2025-12-31T23:00:00.500Z"),
    ("t.Parcel", "eta", "1.5s", "1.500s"),
    ("t.Parcel", "floor", "3", "3"), ("t.Parcel", "floor", "0", "0"),
    ("t.WellKnown", "google.protobuf.FieldMask", "fooBar,a_b.c", "fooBar,aB.c"),
    ("t.WellKnown", "google.protobuf.FieldMask", "foo_3,a__b,c_", "foo_3,a__b,c_"),
    ("t.WellKnown", "google.protobuf.FieldMask", "labels.`é \"\\`", "labels.`é \"\\`"),
    ("t.WellKnown", "google.protobuf.StringValue", "", ""),
    ("t.WellKnown", "google.protobuf.BoolValue", "false", "false"),
    ("t.WellKnown", "google.protobuf.BytesValue", "AQ==", "AQ"),
    ("t.WellKnown", "google.protobuf.Int64Value", "-1", "-1"),
    ("t.WellKnown", "google.protobuf.DoubleValue", "Infinity", "Infinity"), ("t.Old", "closed", "CLOSED_A", "CLOSED_A"),
  ]

  @Test func textsComeBack() throws {
    for (message, name, text, expected) in Self.rows {
      let wire = try decode(text, message, name)
      // The payload is what stands behind the tag (and the length).
      var reader = WireReader(wire.span)
      let tag = try reader.readTag()
      let start = reader.offset
      let payload: [UInt8]
      if tag.type == .lengthDelimited {
        payload = Array(wire[try reader.readLengthDelimited()])
      } else {
        try reader.skip(tag)
        payload = Array(wire[start..<reader.offset])
      }
      #expect((reader.isAtEnd) == true, "\(message).\(name) \(text)")
      #expect(try encode(payload, message, name) == expected, "\(message).\(name) \(text)")
      #expect(
        try Bench.standard.codec.isTextual(
          message: Bench.standard.index(message), field: Bench.standard.field(message, name)))
    }
  }

  private static let refusedRows: [(String, String, String, JSONError.Kind)] = [
    ("t.Scalars", "f_int32", "", .type), ("t.Scalars", "f_int32", "1x", .type),
    ("t.Scalars", "f_int32", "\"1\"", .type),
    ("t.Scalars", "f_int32", "2147483648", .range), ("t.Scalars", "f_int32", "1.5", .type),
    ("t.Scalars", "f_int32", "+1", .type),
    ("t.Scalars", "f_uint32", "-1", .range), ("t.Scalars", "f_int64", "9223372036854775808", .range),
    ("t.Scalars", "f_bool", "1", .type), ("t.Scalars", "f_bool", "TRUE", .type), ("t.Scalars", "f_bool", "", .type),
    ("t.Scalars", "f_double", "nan", .type), ("t.Scalars", "f_double", "1e400", .range),
    ("t.Scalars", "f_bytes", "a", .type),
    ("t.Parcel", "size", "", .type), ("t.Parcel", "size", "size_s", .type), ("t.Parcel", "size", "99999999999", .range),
    ("t.Old", "closed", "7", .range), ("t.Parcel", "created", "1767225600", .type), ("t.Parcel", "created", "", .type),
    ("t.Parcel", "eta", "1", .type), ("t.Parcel", "floor", "x", .type), ("t.Parcel", "to", "{}", .type),
    ("t.Parcel", "labels", "a", .type),
    ("t.Parcel", "extra", "{}", .type), ("t.Parcel", "note", "", .type), ("t.Old", "result", "", .type),
  ]

  @Test func refusedTexts() throws {
    for (message, name, text, kind) in Self.refusedRows {
      do {
        let wire = try decode(text, message, name)
        Issue.record("accepted \(message).\(name) \(text) as \(wire)")
      } catch let error as JSONError {
        #expect(error.kind == kind, "\(message).\(name) \(text): \(error)")
      }
    }
    var output = ByteBuffer()
    #expect(throws: JSONError.self) {
      try Bench.standard.codec.decodeText(
        [UInt8]([0xFF]).span, message: Bench.standard.index("t.Scalars"),
        field: Bench.standard.field("t.Scalars", "f_string"), into: &output)
    }
    #expect((output.isEmpty) == true)
  }

  @Test func whatHasNoText() throws {
    let bench = Bench.standard
    for name in ["to", "labels", "extra", "note", "route"] {
      #expect(
        try !bench.codec.isTextual(message: bench.index("t.Parcel"), field: bench.field("t.Parcel", name)), "\(name)")
    }
    #expect(try !bench.codec.isTextual(message: bench.index("t.Old"), field: bench.field("t.Old", "result")))
    #expect(try !bench.codec.isTextual(message: bench.index("t.Old"), field: 99))
    #expect(!bench.codec.isTextual(message: -1, field: 0))
  }

  @Test func profilesOfText() throws {
    let unix = Bench(JSONProfile(stripEnumPrefix: true, timestamps: .unix))
    #expect(
      try decode("1767225600", "t.Parcel", "created", unix) == decode("2026-01-01T00:00:00Z", "t.Parcel", "created"))
    #expect(try decode("S", "t.Parcel", "size", unix) == Wire.varint(4, 1))
    #expect(try encode([1], "t.Parcel", "size", unix) == "S")
    let created: [UInt8] = [0x08, 0x80, 0xF2, 0xD6, 0xCA, 0x06]
    #expect(try encode(created, "t.Parcel", "created") == "2026-01-01T00:00:00Z")
    #expect(try encode(created, "t.Parcel", "created", unix) == "1767225600")
    let millis = Bench(JSONProfile(timestamps: .unixMilliseconds))
    #expect(try encode(created, "t.Parcel", "created", millis) == "1767225600000")
    #expect(
      try decode("1767225600000", "t.Parcel", "created", millis)
        == decode("2026-01-01T00:00:00Z", "t.Parcel", "created"))
    let numbers = Bench(JSONProfile(enumsAsNumbers: true))
    #expect(try encode([1], "t.Parcel", "size", numbers) == "1")
    let lower = Bench(JSONProfile(stripEnumPrefix: true, lowerCaseEnums: true))
    #expect(try encode([1], "t.Parcel", "size", lower) == "s")
    #expect(try decode("s", "t.Parcel", "size", lower) == Wire.varint(4, 1))
  }

  @Test func malformedPayloads() throws {
    for payload: [UInt8] in [[], [0x80], [1, 2]] {
      #expect(throws: JSONError.self, "\(payload)") { try encode(payload, "t.Scalars", "f_int32") }
    }
    #expect(throws: JSONError.self) { try encode([1, 2, 3], "t.Scalars", "f_double") }
    #expect(throws: JSONError.self) { try encode([0xFF], "t.Scalars", "f_string") }
    #expect(throws: JSONError.self) { try encode([0x08], "t.Parcel", "created") }
    #expect(throws: JSONError.self) { try encode([], "t.Parcel", "to") }
  }
}
