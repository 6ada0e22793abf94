import Testing

@testable import ProtoJSON

/// A key of a map is told from all others, and known when it comes again: of any length, in small maps and in large ones.
@Suite struct MapKeyTests {
  /// Keys of one length that differ in one letter, at each place.
  private static func keys(of length: Int) -> [String] {
    let base = Array(repeating: Character("a"), count: length)
    var keys = [String(base)]
    for place in 0..<length {
      for letter in "bcé" {
        var letters = base
        letters[place] = letter
        keys.append(String(letters))
      }
    }
    return keys
  }

  private static let maps: [[String]] = (0...20).map(keys) + [(0...20).flatMap(keys)]

  private func json(_ keys: [String], _ value: (String) -> String = { _ in "1" }) -> String {
    "{\"labels\":{" + keys.map { "\"\($0)\":\"\(value($0))\"" }.joined(separator: ",") + "}}"
  }

  @Test(arguments: maps) func areToldApart(_ keys: [String]) throws {
    #expect(try Bench.standard.normalize(json(keys), "t.Parcel") == json(keys))
  }

  @Test(arguments: maps) func areRefusedWhenTheyComeAgain(_ keys: [String]) throws {
    for key in keys.prefix(100) {
      #expect(try Bench.standard.refusal(json(keys + [key]), "t.Parcel").kind == .duplicate, "\(key)")
    }
  }

  @Test(arguments: maps) func replaceTheirValueOnTheWire(_ keys: [String]) throws {
    let wire = try Bench.standard.decode(json(keys), "t.Parcel")
    for key in keys.prefix(100) {
      let again = try Bench.standard.decode(json([key]) { _ in "2" }, "t.Parcel")
      let expected = json(keys) { $0 == key ? "2" : "1" }
      #expect(try Bench.standard.encode(wire + again, "t.Parcel") == expected, "\(key)")
    }
  }
}
