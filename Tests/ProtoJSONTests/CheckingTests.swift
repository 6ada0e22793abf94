import Bytes
import ProtobufSchema
import Testing
import TranslationTestSupport

@testable import ProtoJSON

/// Messages that come as wire bytes: what a parser takes, and what the path of a request binds.
@Suite struct CheckingTests {
  private let bench = Bench.standard

  private func check(
    _ wire: [UInt8], _ message: String = "t.Parcel", _ bound: [BoundField] = [], outcome: inout DecodingOutcome
  ) throws -> [UInt8] {
    var output = ByteBuffer()
    try bench.codec.check(
      wire.span, message: try bench.index(message), bound: bound, outcome: &outcome, into: &output)
    return output.bytes
  }

  private func check(_ wire: [UInt8], _ message: String = "t.Parcel", _ bound: [BoundField] = []) throws -> [UInt8] {
    var outcome = DecodingOutcome()
    return try check(wire, message, bound, outcome: &outcome)
  }

  private func json(_ wire: [UInt8], _ bound: [BoundField]) throws -> String {
    try bench.encode(try check(wire, "t.Parcel", bound), "t.Parcel")
  }

  private func refusal(_ wire: [UInt8], _ message: String = "t.Parcel", _ bound: [BoundField] = []) throws -> String {
    do {
      return "accepted \(try check(wire, message, bound))"
    } catch let error as JSONError {
      return "\(error.kind) \(error.path) \(error.offset)"
    }
  }

  private func bound(_ names: [String], _ text: String) throws -> BoundField {
    var message = try bench.index("t.Parcel")
    var path: [Int] = []
    var owner = message
    for name in names {
      owner = message
      path.append(try #require(bench.codec.schema.messages[message].fieldIndex(named: name)))
      message = bench.codec.schema.messages[message].fields[path[path.count - 1]].messageIndex
    }
    var wire = ByteBuffer()
    try bench.codec.decodeText(Array(text.utf8).span, message: owner, field: try #require(path.last), into: &wire)
    return BoundField(fieldPath: path, wire: wire.bytes)
  }

  private static let point = Wire.fixed64(1, 0x3FF0_0000_0000_0000)

  @Test func whatParsersTakeStaysByteForByte() throws {
    let inputs: [[UInt8]] = [
      [], Wire.text(1, "a"), Wire.text(1, "a") + Wire.text(1, "é"), Wire.varint(4, 77), Wire.varint(9_999, 1),
      // Packed, unpacked, both.
      Wire.delimited(20, [1, 2]) + Wire.varint(20, 2), Wire.delimited(20, []),
      // A field of another wire type is an unknown one.
      Wire.varint(1, 5), Wire.delimited(3, [0xFF, 0xFF]), Wire.fixed32(7, 1),
      Wire.delimited(6, Wire.text(1, "k") + Wire.text(2, "v")), Wire.delimited(6, []),
      Wire.delimited(7, Wire.delimited(3, Self.point)) + Wire.delimited(7, Wire.text(2, "c")),
      Wire.delimited(8, [0xFF, 0xFE]), Wire.delimited(18, Wire.text(1, "x/y") + Wire.delimited(2, [0xFF])),
      // An unknown group, a varint longer than it need be.
      [0xA3, 0x06, 0x08, 0x01, 0xA4, 0x06], [0x18, 0x81, 0x80, 0x00],
    ]
    for wire in inputs { #expect(try check(wire) == wire) }
    let group: [UInt8] = [0x0B] + Wire.text(1, "u") + [0x0C]
    #expect(try check(group + group, "t.Old") == group + group)
  }

  @Test func whatParsersRefuseIsRefusedWithItsPlace() throws {
    #expect(try refusal([0x0A]) == "wire id 1")
    #expect(try refusal([0x0A, 5, 0x61]) == "wire id 1")
    #expect(try refusal([0x08 | 7]) == "wire  0")
    #expect(try refusal([0x00]) == "wire  0")
    #expect(try refusal([0x18, 0x80]) == "wire weightG 1")
    #expect(try refusal([0x0C]) == "wire  0")
    #expect(try refusal(Wire.delimited(1, [0xC3])) == "utf8 id 2")
    #expect(try refusal(Wire.text(5, "a") + Wire.delimited(5, [0xFF])) == "utf8 tags[1] 5")
    #expect(try refusal(Wire.delimited(7, Wire.delimited(2, [0x80]))) == "utf8 to.city 4")
    let routes = Wire.delimited(17, Self.point) + Wire.delimited(17, [0x09, 1])
    #expect(try refusal(routes).hasPrefix("wire route[1].lat "))
    #expect(try refusal(Wire.delimited(6, Wire.delimited(1, [0xFF]))) == "utf8 labels.key 4")
    #expect(try refusal(Wire.delimited(20, [0x80])).hasPrefix("wire sizes"))
    #expect(try refusal(Wire.delimited(9, [0x08])).hasPrefix("wire created.seconds "))
    #expect(try refusal([0x0B, 0x0A, 1, 0x61], "t.Old").hasPrefix("wire result"))
    #expect(try refusal([0x0B, 0x0A, 1, 0xFF, 0x0C], "t.Old").hasPrefix("utf8 result.url"))
  }

  @Test func cutAnywhereItIsRefusedOrAMessageOfItsOwn() throws {
    let inner = Wire.text(1, "a") + Wire.delimited(20, [1, 2]) + Wire.varint(3, 300)
    let wire = inner + Wire.delimited(22, inner) + Wire.delimited(7, Wire.delimited(3, Self.point))
    var taken = 0
    for length in 0...wire.count {
      guard !(try refusal(Array(wire.prefix(length)))).hasPrefix("wire") else { continue }
      taken += 1
      _ = try bench.encode(Array(wire.prefix(length)), "t.Parcel")
    }
    // Only between fields.
    #expect(taken == 6)
  }

  @Test func nestingHasABound() throws {
    var wire: [UInt8] = []
    for _ in 0..<99 { wire = Wire.delimited(22, wire) }
    #expect(try check(wire) == wire)
    #expect(try refusal(Wire.delimited(22, wire)).hasPrefix("depth inner.inner."))
    var group: [UInt8] = []
    for _ in 0..<200 { group = [0x0B] + Wire.delimited(2, group) + [0x0C] }
    #expect(try refusal(group, "t.Old").hasPrefix("depth result.old."))
  }

  @Test func absentEqualAndDifferent() throws {
    let id = try bound(["id"], "p1")
    #expect(try json([], [id]) == #"{"id":"p1"}"#)
    #expect(try json(Wire.varint(13, 1), [id]) == #"{"fragile":true,"id":"p1"}"#)
    #expect(try check(Wire.text(1, "p1"), "t.Parcel", [id]) == Wire.text(1, "p1"))
    #expect(try refusal(Wire.varint(13, 1) + Wire.text(1, "p2"), "t.Parcel", [id]) == "conflict id 2")
    #expect(try refusal(Wire.text(1, ""), "t.Parcel", [id]) == "conflict id 0")
    // Each time it is given, not only the last.
    #expect(try refusal(Wire.text(1, "p2") + Wire.text(1, "p1"), "t.Parcel", [id]) == "conflict id 0")
    #expect(try refusal(Wire.text(1, "p1") + Wire.text(1, "p2"), "t.Parcel", [id]) == "conflict id 4")
    // Of another wire type it is no value of the field.
    #expect(try json(Wire.varint(1, 7), [id]) == #"{"id":"p1"}"#)
  }

  @Test func numbersAreComparedByValue() throws {
    let zero = try bound(["weight_g"], "0")
    #expect(try json(Wire.varint(3, 0), [zero]) == "{}")
    #expect(try refusal(Wire.varint(3, 1), "t.Parcel", [zero]) == "conflict weightG 0")
    let cash = try bound(["cash"], "-1")
    #expect(try json(Wire.varint(15, 0xFFFF_FFFF), [cash]) == #"{"cash":-1}"#)
    #expect(try json([0x78, 0xFF, 0xFF, 0xFF, 0xFF, 0x8F, 0x00], [cash]) == #"{"cash":-1}"#)
    let weight = try bound(["weight_g"], "-1")
    #expect(try refusal(Wire.varint(3, 0xFFFF_FFFF), "t.Parcel", [weight]) == "conflict weightG 0")
    let fragile = try bound(["fragile"], "true")
    #expect(try json(Wire.varint(13, 1), [fragile]) == #"{"fragile":true}"#)
    #expect(try refusal(Wire.varint(13, 0), "t.Parcel", [fragile]) == "conflict fragile 0")
    let insured = try bound(["insured"], "1")
    #expect(try json(Wire.fixed64(16, 0x3FF0_0000_0000_0000), [insured]) == #"{"insured":1}"#)
    #expect(try refusal(Wire.fixed64(16, 0), "t.Parcel", [insured]) == "conflict insured 0")
  }

  @Test func nestedParents() throws {
    let lat = try bound(["to", "geo", "lat"], "1")
    let city = try bound(["to", "city"], "c")
    let all = [lat, city]
    let whole = #"{"to":{"geo":{"lat":1},"city":"c"}}"#
    #expect(try json([], all) == whole)
    let geo = Wire.delimited(7, Wire.delimited(3, Self.point))
    #expect(try json(geo, all) == whole)
    #expect(try check(geo + Wire.delimited(7, Wire.text(2, "c")), "t.Parcel", all).count == geo.count + 5)
    // The parent that is there is merged with the one that is appended.
    #expect(
      try json(Wire.delimited(7, Wire.text(1, "s")), all) == #"{"to":{"street":"s","geo":{"lat":1},"city":"c"}}"#)
    #expect(try refusal(Wire.delimited(7, Wire.text(2, "d")), "t.Parcel", all) == "conflict to.city 2")
    #expect(
      try refusal(geo + Wire.delimited(7, Wire.delimited(3, Wire.fixed64(1, 0))), "t.Parcel", all)
        == "conflict to.geo.lat 17")
    // Only the path counts, not the name.
    let elsewhere = Wire.delimited(17, Wire.fixed64(1, 0))
    #expect(try json(elsewhere, [lat]) == #"{"route":[{}],"to":{"geo":{"lat":1}}}"#)
  }

  @Test func siblingsInAOneof() throws {
    let card = try bound(["card"], "x")
    #expect(try refusal(Wire.varint(15, 1), "t.Parcel", [card]) == "conflict cash 0")
    #expect(try refusal(Wire.delimited(19, []), "t.Parcel", [card]) == "conflict cheque 0")
    #expect(try json(Wire.text(14, "x"), [card]) == #"{"card":"x"}"#)
    let inside = try bound(["cheque", "lat"], "1")
    #expect(try refusal(Wire.varint(15, 1), "t.Parcel", [inside]) == "conflict cash 0")
    #expect(try json(Wire.delimited(19, Wire.fixed64(2, 0x4000_0000_0000_0000)), [inside]).contains(#""lat":1"#))
  }

  @Test func messagesAreComparedByWhatTheySay() throws {
    let created = try bound(["created"], "1970-01-01T00:00:01Z")
    #expect(try json(Wire.delimited(9, [8, 1]), [created]) == #"{"created":"1970-01-01T00:00:01Z"}"#)
    #expect(try json(Wire.delimited(9, [16, 0, 8, 1]), [created]) == #"{"created":"1970-01-01T00:00:01Z"}"#)
    // In parts.
    let parts = Wire.delimited(9, [8, 1]) + Wire.delimited(9, [16, 0])
    #expect(try json(parts, [created]) == #"{"created":"1970-01-01T00:00:01Z"}"#)
    #expect(
      try refusal(Wire.delimited(9, [8, 1]) + Wire.delimited(9, [16, 5]), "t.Parcel", [created]).hasPrefix(
        "conflict created "))
    #expect(try refusal(Wire.delimited(9, []), "t.Parcel", [created]).hasPrefix("conflict created "))
    let floor = try bound(["floor"], "0")
    #expect(try json(Wire.delimited(11, []), [floor]) == #"{"floor":0}"#)
    #expect(try refusal(Wire.delimited(11, [8, 1]), "t.Parcel", [floor]).hasPrefix("conflict floor "))
  }

  @Test func masksNameWhatIsThere() throws {
    func mask(_ wire: [UInt8]) throws -> [String] {
      var outcome = DecodingOutcome(collectsMask: true)
      _ = try check(wire, "t.Parcel", outcome: &outcome)
      return outcome.maskPaths
    }
    #expect(try mask([]) == [])
    #expect(try mask(Wire.text(2, "") + Wire.varint(3, 0)) == ["tracking_no", "weight_g"])
    #expect(try mask(Wire.text(5, "a") + Wire.varint(3, 1) + Wire.text(5, "b")) == ["tags", "weight_g"])
    #expect(try mask(Wire.delimited(20, [1])) == ["sizes"])
    #expect(try mask(Wire.delimited(6, Wire.text(1, "k"))) == ["labels"])
    #expect(try mask(Wire.delimited(9, [8, 1])) == ["created"])
    #expect(try mask(Wire.delimited(17, Self.point)) == ["route"])
    #expect(try mask(Wire.delimited(7, [])) == ["to"])
    #expect(
      try mask(Wire.delimited(7, Wire.delimited(3, Self.point) + Wire.text(2, "c"))) == ["to.geo.lat", "to.city"])
    // A message in parts, one of them empty, one field of it in two.
    let parts = Wire.delimited(7, []) + Wire.delimited(7, Wire.text(2, "c")) + Wire.delimited(7, Wire.text(2, "d"))
    #expect(try mask(parts) == ["to.city"])
    let other = Wire.delimited(7, Wire.text(1, "s")) + Wire.text(5, "a")
    let many = (0..<2_000).flatMap { _ in parts + other }
    #expect(try mask(many) == ["to.city", "to.street", "tags"])
    #expect(try mask(Wire.varint(9_999, 1)) == [])
  }

  @Test func oneFieldAsTheBody() throws {
    func body(_ wire: [UInt8], _ message: String, _ name: String, _ bound: [BoundField] = []) throws -> [UInt8] {
      var output = ByteBuffer()
      var outcome = DecodingOutcome()
      try bench.codec.checkField(
        wire.span, message: try bench.index(message), field: try bench.field(message, name), bound: bound,
        outcome: &outcome, into: &output)
      return output.bytes
    }
    #expect(try body([], "t.Parcel", "to") == Wire.delimited(7, []))
    let city = BoundField(fieldPath: [1], wire: Wire.text(2, "c"))
    #expect(try body([], "t.Parcel", "to", [city]) == Wire.delimited(7, Wire.text(2, "c")))
    let long = Wire.text(1, String(repeating: "s", count: 300))
    #expect(try body(long, "t.Parcel", "to", [city]) == Wire.delimited(7, long + Wire.text(2, "c")))
    #expect(try body(Wire.text(1, "u"), "t.Old", "result") == [0x0B] + Wire.text(1, "u") + [0x0C])
    #expect(try body([8, 1], "t.Parcel", "created") == Wire.delimited(9, [8, 1]))
    for name in ["tags", "cash", "labels", "route"] {
      #expect(throws: JSONError.self) { try body([], "t.Parcel", name) }
    }
    var output = ByteBuffer()
    output.append("before")
    var outcome = DecodingOutcome()
    let (message, field) = (try bench.index("t.Parcel"), try bench.field("t.Parcel", "to"))
    #expect(throws: JSONError.self) {
      try bench.codec.checkField(
        ([0x0A] as [UInt8]).span, message: message, field: field, outcome: &outcome, into: &output)
    }
    #expect(String(repairing: output.span) == "before")
  }

  @Test func manyBoundValuesAreRefused() throws {
    let many = Array(repeating: BoundField(fieldPath: [0], wire: Wire.text(1, "a")), count: 65)
    #expect(throws: JSONError.self) { try check([], "t.Parcel", many) }
  }

  @Test func stringsOfProto2NeedNotBeUTF8() throws {
    func schema(_ validates: Bool) -> Schema {
      let field = Field(
        name: "s", jsonName: "s", number: 1, kind: .string, cardinality: .singular, hasPresence: true,
        validatesUTF8: validates)
      let message = MessageType(
        fullName: "t.M", file: "m.proto", fields: [field], oneofs: [], wellKnown: nil, isMapEntry: false)
      return Schema(messages: [message], enums: [], services: [])
    }
    let wire = Wire.delimited(1, [0xFF])
    for validates in [true, false] {
      var output = ByteBuffer()
      var outcome = DecodingOutcome()
      let codec = JSONCodec(schema: schema(validates), profile: .standard)
      do {
        try codec.check(wire.span, message: 0, outcome: &outcome, into: &output)
        #expect(!validates && output.bytes == wire)
      } catch {
        #expect(validates && error.kind == .utf8)
      }
    }
  }
}
