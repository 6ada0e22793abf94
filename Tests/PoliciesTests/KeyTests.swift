import Testing

@testable import Policies

@Suite struct KeyTests {
  private func contains(_ table: KeyTable, _ key: String) -> Bool { table.contains(Array(key.utf8).span) }
  private func isAcceptable(_ id: [UInt8]) -> Bool { RequestID.isAcceptable(id.span) }
  private func isAcceptable(_ id: String) -> Bool { isAcceptable(Array(id.utf8)) }

  @Test func onlyWholeKeysCount() {
    let keys = (0..<500).map { "key-\($0)" } + ["", "ünïcode"]
    let table = KeyTable(keys)
    for key in keys { #expect(contains(table, key)) }
    for other in ["key-", "key-500", "KEY-1", "key-1 ", " key-1", "key-11x", "u"] {
      #expect(!contains(table, other), "\(other)")
    }
    #expect(!contains(KeyTable([String]()), ""))
  }

  @Test func callersIdsAreKeptByTheirCharacters() {
    let long = String(repeating: "a", count: 128)
    for fine in ["a", "Z", "0", "a.b_c-D9", long] { #expect(isAcceptable(fine), "\(fine)") }
    for other in ["", "a b", "a/b", "ä", "a\u{0}", "a,b", long + "a"] {
      #expect(!isAcceptable(other), "\(other)")
    }
    for byte in UInt8.min...UInt8.max {
      let scalar = Character(UnicodeScalar(byte))
      let expected = byte < 128 && (scalar.isLetter || scalar.isNumber || "._-".contains(scalar))
      #expect(isAcceptable([byte]) == expected, "\(byte)")
    }
  }

  @Test func madeIdsAreDifferentAndAcceptable() {
    var source = RequestIDSource(seed: 1, counter: .max - 100)
    var seen: Set<[UInt8]> = []
    for _ in 0..<10_000 {
      let id = source.next()
      #expect(id.count == 32 && isAcceptable(id))
      #expect(seen.insert(Array(id.suffix(16))).inserted)
    }
    var other = RequestIDSource(seed: 2, counter: .max - 100)
    let (mine, others) = (source.next(), other.next())
    #expect(mine.prefix(16) != others.prefix(16))
  }
}
