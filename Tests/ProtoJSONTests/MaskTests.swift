import Testing

@testable import ProtoJSON

@Suite struct MaskTests {
  private func mask(_ json: String) throws -> [String] {
    var outcome = DecodingOutcome(collectsMask: true)
    _ = try Bench.standard.decode(Array(json.utf8), "t.Parcel", outcome: &outcome)
    return outcome.maskPaths
  }

  @Test func onePathPerLeaf() throws {
    #expect(try mask("{}") == [])
    #expect(try mask("{\"to\":{\"geo\":{\"lat\":1,\"lon\":2}}}") == ["to.geo.lat", "to.geo.lon"])
    #expect(try mask("{\"trackingNo\":null}") == ["tracking_no"])
    #expect(try mask("{\"to\":null,\"id\":\"\"}") == ["to", "id"])
    #expect(try mask("{\"to\":{\"geo\":null,\"city\":\"c\"}}") == ["to.geo", "to.city"])
    #expect(try mask("{\"to\":{}}") == ["to"])
    #expect(try mask("{\"to\":{\"geo\":{}}}") == ["to.geo"])
  }

  @Test func listsMapsAndWellKnownTypesAreLeaves() throws {
    #expect(try mask("{\"route\":[{\"lat\":1},{}],\"labels\":{\"a\":\"b\"}}") == ["route", "labels"])
    #expect(
      try mask(
        "{\"created\":\"1970-01-01T00:00:00Z\",\"floor\":1,\"extra\":{\"a\":{\"b\":1}},\"inner\":{\"extra\":{}}}")
        == ["created", "floor", "extra", "inner.extra"])
    #expect(try mask("{\"note\":{\"@type\":\"x/t.Parcel\",\"to\":{}},\"fragile\":true}") == ["note", "fragile"])
  }

  @Test func masksAreBounded() throws {
    // A tree whose paths are far longer than itself.
    var tree = "{\"cash\":1,\"id\":\"a\"}"
    for _ in 0..<90 { tree = "{\"inner\":\(tree),\"id\":\"a\",\"fragile\":true,\"weightG\":1}" }
    #expect(try mask(tree).count == 2 + 90 * 3)
    let fields = (0..<300).map { "\"fieldNumber\($0)OfMany\":1" }.joined(separator: ",")
    var outcome = DecodingOutcome(collectsMask: true)
    _ = try Bench.standard.decode(Array("{\(fields)}".utf8), "t.Wide", outcome: &outcome)
    #expect(outcome.maskPaths.count == 300)
    var collector = MaskCollector(isActive: true)
    for _ in 0..<200 { collector.enter(String(repeating: "x", count: 100)) }
    #expect(throws: Fault.self) {
      for _ in 0..<100 { try collector.add(leaf: "a", at: 0) }
    }
  }
}
