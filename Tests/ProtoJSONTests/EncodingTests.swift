import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

@Suite struct EncodingTests {
  private let bench = Bench.standard

  @Test func readsPackedAndUnpackedLists() throws {
    let packed = Wire.delimited(5, [1, 2, 3])
    let unpacked = Wire.varint(5, 1) + Wire.varint(5, 2) + Wire.varint(5, 3)
    let mixed = Wire.varint(5, 1) + Wire.delimited(5, [2]) + Wire.delimited(5, []) + Wire.varint(5, 3)
    for wire in [packed, unpacked, mixed] {
      #expect(try bench.encode(wire, "t.Lists") == "{\"fInt32\":[1,2,3]}")
    }
    #expect(try bench.encode(Wire.delimited(5, []), "t.Lists") == "{}")
    #expect(try bench.encode(Wire.delimited(1, Array(repeating: 0, count: 16)), "t.Lists") == "{\"fDouble\":[0,0]}")
    #expect(try bench.encodingError(Wire.delimited(1, [1, 2, 3]), "t.Lists").kind == .wire)
    // The other way, lists are written as their type wants it.
    #expect(try bench.decode("{\"fInt32\":[1,2,3]}", "t.Lists") == packed)
    #expect(try bench.decode("{\"numbers\":[1,2]}", "t.Old") == Wire.varint(4, 1) + Wire.varint(4, 2))
  }

  @Test func collectsScatteredFields() throws {
    let wire =
      Wire.text(5, "a") + Wire.text(1, "id") + Wire.text(5, "b")
      + Wire.delimited(17, Wire.fixed64(1, 0x3FF0_0000_0000_0000))
      + Wire.text(5, "c") + Wire.delimited(17, [])
    #expect(
      try bench.encode(wire, "t.Parcel") == "{\"id\":\"id\",\"tags\":[\"a\",\"b\",\"c\"],\"route\":[{\"lat\":1},{}]}")
    let numbers = Wire.varint(5, 1) + Wire.varint(3, 9) + Wire.delimited(5, [2, 3])
    #expect(try bench.encode(numbers, "t.Lists") == "{\"fInt64\":[\"9\"],\"fInt32\":[1,2,3]}")
  }

  @Test func mergesAsProtobufDoes() throws {
    #expect(try bench.encode(Wire.text(1, "a") + Wire.text(1, "b"), "t.Parcel") == "{\"id\":\"b\"}")
    let street = Wire.delimited(7, Wire.text(1, "s"))
    let city = Wire.delimited(7, Wire.text(2, "c"))
    #expect(try bench.encode(street + city, "t.Parcel") == "{\"to\":{\"street\":\"s\",\"city\":\"c\"}}")
    #expect(
      try bench.encode(Wire.delimited(22, street) + Wire.delimited(22, city), "t.Parcel")
        == "{\"inner\":{\"to\":{\"street\":\"s\",\"city\":\"c\"}}}")
    // The last member of a oneof is the one that counts, and what it replaced is gone.
    let cheque = Wire.delimited(19, Wire.fixed64(1, 0x3FF0_0000_0000_0000))
    let other = Wire.delimited(19, Wire.fixed64(2, 0x3FF0_0000_0000_0000))
    #expect(try bench.encode(Wire.text(14, "a") + Wire.varint(15, 1), "t.Parcel") == "{\"cash\":1}")
    #expect(try bench.encode(cheque + other, "t.Parcel") == "{\"cheque\":{\"lat\":1,\"lon\":1}}")
    #expect(try bench.encode(cheque + Wire.varint(15, 1) + other, "t.Parcel") == "{\"cheque\":{\"lon\":1}}")
    // Groups.
    let group = [0x0B] + Wire.text(1, "a") + [0x0C]
    #expect(try bench.encode(group + Wire.varint(5, 1) + group, "t.Old") == "{\"result\":{\"url\":\"a\"},\"count\":1}")
  }

  @Test func keepsTheLastEntryOfAKey() throws {
    func entry(_ key: String, _ value: String) -> [UInt8] { Wire.delimited(6, Wire.text(1, key) + Wire.text(2, value)) }
    #expect(
      try bench.encode(entry("a", "1") + entry("b", "2") + entry("a", "3"), "t.Parcel")
        == "{\"labels\":{\"a\":\"3\",\"b\":\"2\"}}")
    let many = (0..<40).flatMap { entry("key\($0)", "1") }
    let expected = (0..<40).map { "\"key\($0)\":\"\($0 == 0 ? 2 : 1)\"" }.joined(separator: ",")
    #expect(try bench.encode(many + entry("key0", "2"), "t.Parcel") == "{\"labels\":{\(expected)}}")
    // Entries without key or value, in the other order, with one twice, with unknown fields.
    #expect(try bench.encode(Wire.delimited(6, []), "t.Parcel") == "{\"labels\":{\"\":\"\"}}")
    #expect(
      try bench.encode(Wire.delimited(6, Wire.text(2, "v") + Wire.text(1, "k")), "t.Parcel")
        == "{\"labels\":{\"k\":\"v\"}}")
    let twice = Wire.text(1, "x") + Wire.text(1, "k") + Wire.varint(9, 1) + Wire.text(2, "w") + Wire.text(2, "v")
    #expect(try bench.encode(Wire.delimited(6, twice), "t.Parcel") == "{\"labels\":{\"k\":\"v\"}}")
    // The same key in two spellings of the varint, and the default key left out.
    let numbers =
      Wire.delimited(5, [8, 1] + Wire.text(2, "a")) + Wire.delimited(5, [8, 0x81, 0] + Wire.text(2, "b"))
      + Wire.delimited(5, Wire.text(2, "c")) + Wire.delimited(5, [8, 0] + Wire.text(2, "d"))
    #expect(try bench.encode(numbers, "t.Maps") == "{\"fInt32\":{\"1\":\"b\",\"0\":\"d\"}}")
    let message = Wire.delimited(
      61,
      Wire.text(1, "p") + Wire.delimited(2, Wire.fixed64(1, 0x3FF0_0000_0000_0000))
        + Wire.delimited(2, Wire.fixed64(2, 0x3FF0_0000_0000_0000)))
    #expect(try bench.encode(message, "t.Maps") == "{\"vPoint\":{\"p\":{\"lat\":1,\"lon\":1}}}")
    #expect(try bench.encode(Wire.delimited(62, []), "t.Maps") == "{\"vTime\":{\"\":\"1970-01-01T00:00:00Z\"}}")
  }

  @Test func otherWireTypesBetweenEntriesAreSkipped() throws {
    let entry = Wire.delimited(6, Wire.text(1, "a"))
    let other = Wire.delimited(6, Wire.text(1, "b"))
    let alien = Wire.varint(6, 7)
    #expect(try bench.encode(entry + alien, "t.Parcel") == "{\"labels\":{\"a\":\"\"}}")
    #expect(try bench.encode(entry + alien + alien + other, "t.Parcel") == "{\"labels\":{\"a\":\"\",\"b\":\"\"}}")
    let nested = Wire.delimited(22, entry + alien)
    let scattered = Wire.text(5, "x") + nested + Wire.text(5, "y")
    #expect(
      try bench.encode(scattered, "t.Parcel") == "{\"tags\":[\"x\",\"y\"],\"inner\":{\"labels\":{\"a\":\"\"}}}")
    #expect(try bench.encodingError(entry + [0x30], "t.Parcel").kind == .wire)
  }

  @Test func structsWithDuplicatesKeepTheLast() throws {
    func entry(_ key: String, _ value: [UInt8]) -> [UInt8] {
      Wire.delimited(1, Wire.text(1, key) + Wire.delimited(2, value))
    }
    let wire = entry("a", Wire.varint(4, 1)) + entry("b", Wire.varint(1, 0)) + entry("a", Wire.text(3, "x"))
    #expect(try bench.encode(wire, "google.protobuf.Struct") == "{\"a\":\"x\",\"b\":null}")
    #expect(try bench.encode(Wire.varint(4, 1) + Wire.text(3, "x"), "google.protobuf.Value") == "\"x\"")
  }

  /// Kinds of 32 bits take the lower half of a longer varint: a default, if that is zero.
  @Test func bitsBeyondTheKindAreNoValue() throws {
    for (name, kind) in [("fInt32", "int32"), ("fUint32", "uint32"), ("fSint32", "sint32")] {
      let field = try #require(Fixture.scalars.firstIndex { $0.name == kind })
      let number = UInt32(field + 1)
      #expect(try bench.encode(Wire.varint(number, 1 << 40), "t.Scalars") == "{}")
      let value = kind == "sint32" ? 4 : 2
      #expect(try bench.encode(Wire.varint(number, 1 << 40 | UInt64(value)), "t.Scalars") == "{\"\(name)\":2}")
      #expect(try bench.encode(Wire.varint(number, 1 << 40), "t.Optionals") == "{\"\(name)\":0}")
    }
    #expect(try bench.encode(Wire.varint(4, 1 << 40), "t.Parcel") == "{}")
    #expect(try bench.encode(Wire.varint(13, 1 << 40), "t.Parcel") == "{\"fragile\":true}")
  }

  /// A part of a message may have no JSON although the whole has one: it goes on elsewhere, or is replaced.
  @Test func partsWithoutJSONAreNotJudged() throws {
    let type = Wire.text(1, "x/google.protobuf.Duration")
    let rows: [(field: String, parts: [[UInt8]], json: String)] = [
      ("google.protobuf.Any", [Wire.text(1, "decoy"), type], #"{"@type":"x/google.protobuf.Duration","value":"0s"}"#),
      (
        "google.protobuf.Any", [Wire.delimited(2, Wire.varint(1, 5)), type],
        #"{"@type":"x/google.protobuf.Duration","value":"5s"}"#
      ),
      (
        "google.protobuf.Any", [type + Wire.text(2, "decoy"), Wire.delimited(2, Wire.varint(1, 5))],
        #"{"@type":"x/google.protobuf.Duration","value":"5s"}"#
      ),
      ("google.protobuf.Value", [[], Wire.varint(4, 1)], "true"),
      ("google.protobuf.Value", [Wire.fixed64(2, Double.nan.bitPattern), Wire.text(3, "x")], #""x""#),
      ("google.protobuf.Timestamp", [Wire.varint(2, 5_000_000_000), Wire.varint(2, 0)], #""1970-01-01T00:00:00Z""#),
      (
        "google.protobuf.Duration", [Wire.varint(2, UInt64(bitPattern: -1)) + Wire.varint(1, 1), Wire.varint(2, 1)],
        #""1.000000001s""#
      ),
    ]
    for (name, parts, json) in rows {
      let index = try bench.field("t.WellKnown", name)
      let number = UInt32(bitPattern: bench.codec.schema.messages[try bench.index("t.WellKnown")].fields[index].number)
      let wire = parts.flatMap { Wire.delimited(number, $0) }
      #expect(try bench.encode(wire, "t.WellKnown") == "{\"\(name)\":\(json)}")
      #expect(try bench.encode(parts.flatMap(\.self), name) == json)
    }
  }

  @Test func nullValuesAreNullWhateverTheirNumber() throws {
    for number: UInt64 in [0, 47] {
      #expect(try bench.encode(Wire.varint(40, number), "t.WellKnown") == "{}")
      let defaults = Bench(JSONProfile(emitDefaults: true))
      #expect(try defaults.encode(Wire.varint(40, number), "t.WellKnown").contains("\"nothing\":null"))
    }
  }

  @Test func skipsUnknownFieldsAndOtherWireTypes() throws {
    let unknown =
      Wire.varint(1000, 5) + Wire.fixed32(1001, 5) + Wire.fixed64(1002, 5) + Wire.text(1003, "x") + [
        0xDB, 0x3E, 0x08, 0x01, 0xDC, 0x3E,
      ]
    #expect(try bench.encode(unknown + Wire.text(1, "a") + unknown, "t.Parcel") == "{\"id\":\"a\"}")
    #expect(try bench.encode(Wire.varint(1, 7) + Wire.text(2, "b"), "t.Parcel") == "{\"trackingNo\":\"b\"}")
    #expect(
      try bench.encode(Wire.text(5, "a") + Wire.varint(5, 1) + Wire.text(5, "b"), "t.Parcel")
        == "{\"tags\":[\"a\",\"b\"]}")
  }

  @Test func refusesMalformedBytes() throws {
    let rows: [([UInt8], JSONError.Kind)] = [
      ([0x08], .wire), ([0x0A, 0x05, 0x41], .wire), ([0x00], .wire), ([0x07], .wire), ([0x0C], .wire), ([0x0B], .wire),
      ([0x80], .wire), (Array(repeating: 0xFF, count: 11), .wire), ([0x0A, 0x01, 0xFF], .utf8), ([0x61, 1, 2], .wire),
      ([0xFB, 0x3E, 0xFC, 0x3F], .wire), ([0x18] + Array(repeating: 0x80, count: 10) + [1], .wire),
      ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], .wire),
    ]
    for (wire, kind) in rows {
      let error = try bench.encodingError(wire, "t.Parcel")
      #expect(error.kind == kind, "\(wire): \(error)")
      #expect(error.offset <= wire.count)
    }
    let bad = Wire.delimited(22, Wire.delimited(17, []) + Wire.delimited(17, [0x09, 1]))
    #expect(try bench.encodingError(bad, "t.Parcel").path == "inner.route[1].lat")
    #expect(try bench.encodingError(Wire.text(5, "ok") + Wire.delimited(5, [0xC0]), "t.Parcel").path == "tags[1]")
  }

  @Test func pathsCutLongKeys() throws {
    let key = String(repeating: "k", count: 10_000)
    let infinite = Wire.fixed64(2, Double.infinity.bitPattern)
    let entry = Wire.delimited(1, Wire.text(1, key) + Wire.delimited(2, infinite))
    let error = try bench.encodingError(Wire.delimited(12, entry), "t.Parcel")
    #expect(error.path == "extra.\(key.prefix(128))")
  }

  @Test func depthIsLimited() throws {
    func nested(_ levels: Int) -> [UInt8] {
      var wire: [UInt8] = []
      for _ in 1..<levels { wire = Wire.delimited(22, wire) }
      return wire
    }
    _ = try bench.encode(nested(100), "t.Parcel")
    #expect(try bench.encodingError(nested(101), "t.Parcel").kind == .depth)
    // What may be read may be written.
    let list = String(repeating: "[", count: 99) + String(repeating: "]", count: 99)
    #expect(try bench.normalize("{\"a\":\(list)}", "google.protobuf.Struct") == "{\"a\":\(list)}")
    var any = "{\"@type\":\"x/t.Parcel\"}"
    for _ in 0..<49 { any = "{\"@type\":\"x/t.Parcel\",\"inner\":{\"note\":\(any)}}" }
    #expect(try bench.normalize(any, "google.protobuf.Any") == any)
    // A message that is text or a number in JSON is no level there.
    for leaf in [#""created":"2026-01-01T00:00:00Z""#, #""eta":"1s""#, #""floor":1"#] {
      let json = String(repeating: "{\"inner\":", count: 99) + "{\(leaf)}" + String(repeating: "}", count: 99)
      #expect(try bench.normalize(json, "t.Parcel") == json)
    }
    let groups = Array(repeating: UInt8(0x0B), count: 5_000)
    #expect(try bench.encodingError(groups, "t.Old").kind == .wire)
  }

  @Test func presenceDecidesAboutDefaults() throws {
    #expect(try bench.encode(Wire.varint(3, 0), "t.Parcel") == "{}")
    #expect(try bench.encode(Wire.varint(15, 0), "t.Parcel") == "{\"cash\":0}")
    #expect(try bench.encode(Wire.varint(5, 0), "t.Optionals") == "{\"fInt32\":0}")
    #expect(try bench.encode(Wire.fixed64(16, UInt64(1) << 63), "t.Parcel") == "{\"insured\":-0.0}")
    #expect(try bench.encode(Wire.varint(5, UInt64(bitPattern: -5)), "t.Scalars") == "{\"fInt32\":-5}")
    #expect(try bench.encode(Wire.varint(5, 0xFFFF_FFFF), "t.Scalars") == "{\"fInt32\":-1}")
  }

  @Test func leavesOutWhatIsBoundElsewhere() throws {
    let wire =
      Wire.text(1, "p") + Wire.delimited(7, Wire.text(1, "s") + Wire.text(2, "c")) + Wire.text(5, "a")
      + Wire.text(5, "b")
    #expect(
      try bench.encode(wire, "t.Parcel", omitting: [[0]])
        == "{\"to\":{\"street\":\"s\",\"city\":\"c\"},\"tags\":[\"a\",\"b\"]}")
    #expect(try bench.encode(wire, "t.Parcel", omitting: [[6, 1], [4]]) == "{\"id\":\"p\",\"to\":{\"street\":\"s\"}}")
    #expect(try bench.encode(wire, "t.Parcel", omitting: [[6, 0], [6, 1], [0], [4]]) == "{\"to\":{}}")
    let everything = Bench(JSONProfile(emitDefaults: true))
    #expect(try everything.encode([], "t.Address", omitting: [[0]]) == "{\"city\":\"\"}")
    // Scattered too.
    #expect(
      try bench.encode(
        wire + Wire.text(5, "c") + Wire.text(1, "q") + Wire.text(5, "d"), "t.Parcel", omitting: [[0], [6]])
        == "{\"tags\":[\"a\",\"b\",\"c\",\"d\"]}")
  }

  @Test func oneFieldAsTheBody() throws {
    func body(_ wire: [UInt8], _ name: String, _ message: String = "t.Parcel", omitting: [[Int]] = []) throws -> String
    {
      var output = ByteBuffer()
      try bench.codec.encodeField(
        wire.span, message: try bench.index(message), field: try bench.field(message, name), omitting: omitting,
        into: &output)
      return String(decoding: output.bytes, as: UTF8.self)
    }
    let wire = Wire.text(1, "p") + Wire.text(5, "a") + Wire.delimited(7, Wire.text(2, "c")) + Wire.text(5, "b")
    #expect(try body(wire, "id") == "\"p\"")
    #expect(try body(wire, "tags") == "[\"a\",\"b\"]")
    #expect(try body(wire, "to") == "{\"city\":\"c\"}")
    #expect(try body(wire, "to", omitting: [[1]]) == "{}")
    #expect(try body(wire + Wire.delimited(7, Wire.text(1, "s")), "to") == "{\"city\":\"c\",\"street\":\"s\"}")
    let unset = [
      "id": "\"\"", "weight_g": "\"0\"", "size": "\"SIZE_UNSPECIFIED\"", "tags": "[]", "labels": "{}", "to": "{}",
      "created": "null", "floor": "null", "extra": "{}", "fragile": "false", "insured": "0", "note": "{}", "cash": "0",
    ]
    for (name, json) in unset { #expect(try body([], name) == json, "\(name)") }
    #expect(try body(Wire.delimited(11, []), "floor") == "0")
    #expect(try body(Wire.delimited(6, Wire.text(1, "a")), "labels") == "{\"a\":\"\"}")
    #expect(try body([0x0B] + Wire.text(1, "u") + [0x0C], "result", "t.Old") == "{\"url\":\"u\"}")
  }

  @Test func anOutputInUseIsAppendedTo() throws {
    var output = ByteBuffer()
    output.append("before ")
    try bench.codec.encode(Wire.text(1, "a").span, message: try bench.index("t.Parcel"), into: &output)
    #expect(output.bytes == Array("before {\"id\":\"a\"}".utf8))
    #expect(throws: JSONError.self) {
      var output = ByteBuffer()
      try bench.codec.encode([UInt8]([0x0A]).span, message: try bench.index("t.Parcel"), into: &output)
    }
    #expect(throws: JSONError.self) {
      var output = ByteBuffer()
      try bench.codec.encode([UInt8]().span, message: 10_000, into: &output)
    }
  }
}
