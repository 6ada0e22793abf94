import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

@Suite struct BoundFieldTests {
  private let bench = Bench.standard

  private func path(_ message: String, _ names: [String]) throws -> [Int] {
    var message = try bench.index(message)
    return try names.map { name in
      let type = bench.codec.schema.messages[message]
      let field = try #require(type.fieldIndex(named: name))
      message = type.fields[field].messageIndex
      return field
    }
  }

  private func bound(_ message: String, _ names: [String], _ text: String) throws -> BoundField {
    let path = try path(message, names)
    var owner = try bench.index(message)
    for field in path.dropLast() { owner = bench.codec.schema.messages[owner].fields[field].messageIndex }
    var wire = ByteBuffer()
    try bench.codec.decodeText(Array(text.utf8).span, message: owner, field: try #require(path.last), into: &wire)
    return BoundField(fieldPath: path, wire: wire.bytes)
  }

  private func decode(_ json: String, _ bound: [BoundField]) throws -> String {
    var outcome = DecodingOutcome()
    let wire = try bench.decode(Array(json.utf8), "t.Parcel", bound: bound, outcome: &outcome)
    return try bench.encode(wire, "t.Parcel")
  }

  private func conflict(_ json: String, _ bound: [BoundField]) throws -> String {
    var outcome = DecodingOutcome()
    do {
      _ = try bench.decode(Array(json.utf8), "t.Parcel", bound: bound, outcome: &outcome)
    } catch let error as JSONError {
      #expect(error.kind == .conflict, "\(error)")
      return error.path
    }
    return "accepted"
  }

  @Test func absentEqualAndDifferent() throws {
    let id = try bound("t.Parcel", ["id"], "p1")
    #expect(try decode("{}", [id]) == "{\"id\":\"p1\"}")
    #expect(try decode("{\"id\":null}", [id]) == "{\"id\":\"p1\"}")
    #expect(try decode("{\"fragile\":true}", [id]) == "{\"fragile\":true,\"id\":\"p1\"}")
    #expect(try decode("{\"id\":\"p1\",\"fragile\":true}", [id]) == "{\"id\":\"p1\",\"fragile\":true}")
    #expect(try decode("{\"id\":\"\\u0070\\u0031\"}", [id]) == "{\"id\":\"p1\"}")
    #expect(try conflict("{\"fragile\":true,\"id\":\"p2\"}", [id]) == "id")
    #expect(try conflict("{\"id\":\"\"}", [id]) == "id")
    let zero = try bound("t.Parcel", ["weight_g"], "0")
    #expect(try decode("{\"weightG\":0}", [zero]) == "{}")
    #expect(try conflict("{\"weightG\":1}", [zero]) == "weightG")
  }

  @Test func nestedParents() throws {
    let lat = try bound("t.Parcel", ["to", "geo", "lat"], "1")
    let lon = try bound("t.Parcel", ["to", "geo", "lon"], "2")
    let city = try bound("t.Parcel", ["to", "city"], "c")
    let all = [lat, city, lon]
    let whole = "{\"to\":{\"geo\":{\"lat\":1,\"lon\":2},\"city\":\"c\"}}"
    #expect(try decode("{}", all) == whole)
    #expect(try decode("{\"to\":null}", all) == whole)
    #expect(try decode("{\"to\":{}}", all) == whole)
    #expect(
      try decode("{\"to\":{\"geo\":{\"lon\":2}}}", all) == "{\"to\":{\"geo\":{\"lon\":2,\"lat\":1},\"city\":\"c\"}}")
    #expect(
      try decode("{\"to\":{\"city\":\"c\",\"street\":\"s\"}}", all)
        == "{\"to\":{\"city\":\"c\",\"street\":\"s\",\"geo\":{\"lat\":1,\"lon\":2}}}")
    #expect(try conflict("{\"to\":{\"geo\":{\"lon\":3}}}", all) == "to.geo.lon")
    // Only the path counts, not the name.
    #expect(try decode("{\"route\":[{\"lat\":9}]}", [lat]) == "{\"route\":[{\"lat\":9}],\"to\":{\"geo\":{\"lat\":1}}}")
  }

  @Test func siblingsInAOneof() throws {
    let card = try bound("t.Parcel", ["card"], "x")
    #expect(try conflict("{\"cash\":1}", [card]) == "cash")
    #expect(try decode("{\"cash\":null}", [card]) == "{\"card\":\"x\"}")
    #expect(try decode("{\"card\":\"x\"}", [card]) == "{\"card\":\"x\"}")
    let inside = try bound("t.Parcel", ["cheque", "lat"], "1")
    #expect(try conflict("{\"cash\":1}", [inside]) == "cash")
    #expect(try decode("{\"cheque\":{\"lon\":2}}", [inside]) == "{\"cheque\":{\"lon\":2,\"lat\":1}}")
  }

  @Test func partsOfWellKnownTypesCannotBeGivenTwice() throws {
    let path = try path("t.Parcel", ["created", "seconds"])
    let seconds = BoundField(fieldPath: path, wire: [8, 1])
    #expect(try decode("{}", [seconds]) == "{\"created\":\"1970-01-01T00:00:01Z\"}")
    #expect(try conflict("{\"created\":\"1970-01-01T00:00:01Z\"}", [seconds]) == "created")
  }

  @Test func pathsOutsideTheSchemaDoNothing() throws {
    let wild = BoundField(fieldPath: [999, 3], wire: [8, 1])
    #expect(try decode("{\"id\":\"a\"}", [wild]) == "{\"id\":\"a\"}")
    let empty = BoundField(fieldPath: [], wire: [8, 1])
    #expect(try decode("{\"card\":\"a\"}", [empty]) == "{\"card\":\"a\"}")
    let many = Array(repeating: wild, count: 65)
    #expect(throws: JSONError.self) { try decode("{}", many) }
  }

  @Test func oneFieldAsTheBody() throws {
    func body(_ json: String, _ message: String, _ name: String, _ bound: [BoundField] = []) throws -> [UInt8] {
      var output = ByteBuffer()
      var outcome = DecodingOutcome()
      try bench.codec.decodeField(
        Array(json.utf8).span, message: try bench.index(message), field: try bench.field(message, name), bound: bound,
        outcome: &outcome, into: &output)
      return output.bytes
    }
    #expect(try body("[\"a\",\"b\"]", "t.Parcel", "tags") == Wire.text(5, "a") + Wire.text(5, "b"))
    #expect(try body(" 5 ", "t.Parcel", "cash") == Wire.varint(15, 5))
    #expect(try body("0", "t.Parcel", "weight_g") == [])
    #expect(try body("null", "t.Parcel", "to") == [])
    #expect(try body("{}", "t.Parcel", "to") == Wire.delimited(7, []))
    #expect(try body("\"1970-01-01T00:00:01Z\"", "t.Parcel", "created") == Wire.delimited(9, [8, 1]))
    #expect(try body("{\"a\":\"b\"}", "t.Parcel", "labels") == Wire.delimited(6, Wire.text(1, "a") + Wire.text(2, "b")))
    let city = try bound("t.Address", ["city"], "c")
    #expect(
      try body("{\"street\":\"s\"}", "t.Parcel", "to", [city])
        == Wire.delimited(7, Wire.text(1, "s") + Wire.text(2, "c")))
    #expect(try body("null", "t.Parcel", "to", [city]) == Wire.delimited(7, Wire.text(2, "c")))
    let url = BoundField(fieldPath: [0], wire: Wire.text(1, "u"))
    #expect(try body("null", "t.Old", "result", [url]) == [0x0B] + Wire.text(1, "u") + [0x0C])
    #expect(throws: JSONError.self) { try body("{\"tags\":[\"a\"]}", "t.Parcel", "tags") }
    #expect(throws: JSONError.self) { try body("[\"a\"] x", "t.Parcel", "tags") }
    #expect(throws: JSONError.self) { try body("[]", "t.Parcel", "tags", [city]) }
  }
}
