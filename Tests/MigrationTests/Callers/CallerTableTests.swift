import Migration
import RandomnessTestSupport
import Testing

@Suite struct CallerTableTests {
  private func caller(_ number: Int) -> CallerName { CallerName(agent: "app\(number)", version: "1.\(number)") }

  private func record(_ number: Int, _ table: inout CallerTable, at seconds: Int64 = 0) {
    table.record(UInt64(number), at: seconds) { caller(number) }
  }

  @Test func countsEachCaller() {
    var table = CallerTable()
    record(1, &table, at: 10)
    record(2, &table, at: 11)
    record(1, &table, at: 12)
    #expect(table.total == 3)
    #expect(
      CallerTable.merged([table], most: 9) == [
        CallerCount(caller: caller(1), requests: 2, lastSeen: 12),
        CallerCount(caller: caller(2), requests: 1, lastSeen: 11),
      ])
  }

  @Test func aKnownCallerIsNotNamedAgain() {
    var table = CallerTable()
    var named = 0
    for _ in 0..<5 {
      table.record(1, at: 0) {
        named += 1
        return caller(1)
      }
    }
    #expect(named == 1)
  }

  @Test func theTablesOfAllLoopsAreOne() {
    var tables = [CallerTable(), CallerTable(), CallerTable()]
    for index in tables.indices {
      for _ in 0...index { record(1, &tables[index], at: Int64(index)) }
      record(100 + index, &tables[index])
    }
    let merged = CallerTable.merged(tables, most: 2)
    #expect(merged.first == CallerCount(caller: caller(1), requests: 6, lastSeen: 2))
    #expect(merged.count == 2 && merged.last?.caller == caller(100))
    #expect(CallerTable.merged([], most: 2) == [])
  }

  /// What Space-Saving promises: room is bounded, who calls often is there, and no count is too high.
  @Test(arguments: [1, 2, 3] as [UInt64]) func aFloodOfNamesHidesNobodyWhoCallsOften(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = CallerTable()
    var truth: [Int: UInt64] = [:]
    for step in 0..<20_000 {
      // A half of the calls are of ten callers, the others of one each.
      let number = Bool.random(using: &random) ? Int.random(in: 0..<10, using: &random) : 1000 + step
      truth[number, default: 0] += 1
      record(number, &table, at: Int64(step))
    }
    let counts = table.counts
    #expect(counts.count == CallerTable.capacity && table.total == 20_000)
    let byName = Dictionary(counts.map { ($0.caller.agent, $0.requests) }, uniquingKeysWith: max)
    for number in 0..<10 {
      let counted = byName["app\(number)"] ?? 0
      let real = truth[number] ?? 0
      #expect(counted <= real && counted + 20_000 / UInt64(CallerTable.capacity) >= real, "\(number)")
    }
    for (name, requests) in byName {
      #expect(requests <= truth[Int(name.dropFirst(3)) ?? -1] ?? 0, "\(name)")
    }
  }
}
