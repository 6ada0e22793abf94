import Testing

@testable import Gateway

/// What is kept of JSON members that the schema lacks, to name them to who asks.
@Suite struct UnknownFieldsTests {
  @Test func aStreamThatBringsOthersWithEveryMessageIsBounded() {
    var known: [String] = []
    for number in 0..<10_000 { UnknownFieldsReport.keep(["a\(number)", "same", "b\(number)"], in: &known) }
    #expect(known.prefix(4) == ["a0", "same", "b0", "a1"])
    #expect(known.reduce(0) { $0 + $1.utf8.count + 1 } <= UnknownFieldsReport.maximumLength)
    #expect(UnknownFieldsReport.value(known).utf8.count > UnknownFieldsReport.maximumLength - 16)
  }

  @Test func aPathThatIsTooLongLeavesRoomForOthers() {
    var known: [String] = []
    UnknownFieldsReport.keep([String(repeating: "x", count: 5000), "short"], in: &known)
    #expect(known == ["short"])
  }
}
