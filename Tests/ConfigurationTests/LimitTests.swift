import Diagnostics
import RandomnessTestSupport
import Testing

@testable import Configuration

/// Input that tries to exhaust something, and input at random: a fault at most, never a trap.
@Suite struct LimitTests {
  func faults(_ text: String) -> [Diagnostic] {
    ConfigurationLoader.load(text: text, file: "f", environment: { _ in nil }).diagnostics
  }

  @Test func refusesAFileThatIsTooLarge() {
    let faults = faults("#" + String(repeating: "x", count: DocumentLimits().bytes))
    #expect(
      faults.map(\.description) == ["f:1:1: error: the file is larger than 4194304 bytes; split it with `include:`"])
  }

  @Test func readsAFileOfTheLargestSize() {
    let text = "listeners: [ { address: 127.0.0.1:0 } ]\n#"
    #expect(faults(text + String(repeating: "x", count: DocumentLimits().bytes - text.utf8.count)) == [])
  }

  @Test(arguments: ["[", "{a: ", "- ", "? "])
  func refusesDeepNesting(_ open: String) {
    let faults = faults(String(repeating: open, count: 100_000))
    #expect(faults.map(\.what) == ["nested deeper than 48 levels"])
  }

  @Test func countsDepthThroughAliases() {
    var text = "a0: &a0 [x]\n"
    for level in 1...60 { text += "a\(level): &a\(level) [*a\(level - 1)]\n" }
    #expect(faults(text).map(\.what) == ["nested deeper than 48 levels"])
  }

  @Test func boundsNodesOfMergedMappings() {
    var text = "a0: &a0 {\(( 0..<200).map { "k\($0): v" }.joined(separator: ", "))}\n"
    text += "a1: [\((0..<2000).map { _ in "{<<: *a0}" }.joined(separator: ", "))]\n"
    #expect(faults(text).map(\.what) == ["more than 200000 values, aliases counted at each use"])
  }

  @Test func refusesACycle() {
    #expect(faults("a: &a [*a]").map(\.what) == ["no anchor `a` is set before this place"])
  }

  @Test func cutsALongListOfFaults() {
    let faults = faults((0..<1000).map { "key\($0): 1\n" }.joined())
    #expect(faults.count == LoadContext.mostDiagnostics + 1)
    #expect(faults.last?.what == "801 more faults from here on")
  }

  @Test(arguments: [[0xFF], [0x61, 0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0x3A, 0x0A, 0xE2, 0x82]] as [[UInt8]])
  func refusesWhatIsNotUTF8(_ bytes: [UInt8]) {
    let diagnostics = ConfigurationLoader.load(bytes: bytes, file: "f", environment: { _ in nil }).diagnostics
    #expect(diagnostics.map(\.what) == ["not UTF-8"])
  }

  @Test func saysWhereItIsNotUTF8() {
    let diagnostics = ConfigurationLoader.load(
      bytes: Array("# grün\nlög: ".utf8) + [0xFF], file: "f", environment: { _ in nil }
    ).diagnostics
    #expect(diagnostics.map(\.position) == [SourcePosition(file: "f", line: 2, column: 6)])
  }

  @Test func aByteOrderMarkIsFine() {
    let text = "\u{FEFF}listeners: [ { address: 127.0.0.1:0 } ]\n"
    #expect(faults(text) == [])
  }

  @Test func columnsCountCharacters() {
    #expect(
      faults("{ log: text, größe: 1, listeners: [ { address: 127.0.0.1:0 } ], zzz: 1 }").map(\.position.column) == [
        14, 65,
      ])
  }

  @Test func refusesNULInText() {
    #expect(faults("log: \"te\\0xt\"").contains { $0.what == "the text has a NUL character" })
  }

  @Test func boundsAFileThatIsPutInOftenEnough() {
    let path = ReferenceTests.reference
    let text = "fallback: \"\(String(repeating: "${file:\(path)}", count: 300))\""
    #expect(faults(text).contains { $0.what.contains("becomes longer than 1048576 bytes") })
  }

  /// Bytes of every golden file and of the reference, changed at random places.
  @Test(arguments: GoldenTests.names + ["reference"])
  func changedFilesNeverTrap(_ name: String) throws {
    let path = name == "reference" ? ReferenceTests.reference : "\(GoldenTests.folder)/\(name)"
    let bytes = Array(try #require(Folder.text(of: path)).utf8)
    var random = SeededGenerator(seed: UInt64(bytes.count))
    for _ in 0..<60 {
      var changed = bytes
      for _ in 0...random.below(4) { Self.change(&changed, &random) }
      let (configuration, diagnostics) = ConfigurationLoader.load(
        bytes: changed, file: "\(GoldenTests.folder)/turnout.yaml", environment: { _ in "value" })
      #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
      #expect(diagnostics.count <= LoadContext.mostDiagnostics + 1)
      for diagnostic in diagnostics { #expect(diagnostic.position.line > 0 && diagnostic.position.column > 0) }
    }
  }

  /// Every prefix of a file.
  @Test func cutFilesNeverTrap() throws {
    let bytes = Array(try #require(Folder.text(of: "\(GoldenTests.folder)/contract.golden")).utf8)
    for count in bytes.indices {
      let (configuration, diagnostics) = ConfigurationLoader.load(
        bytes: Array(bytes.prefix(count)), file: "f", environment: { _ in nil })
      #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
    }
  }

  private static let pieces: [[UInt8]] = [
    "&a ", "*a ", "<<: ", "${env:X}", "${file:", "}", "[", "]", "{", "}", "- ", ": ", "\n", "\t", "\"", "'", "|", ">",
    "#",
    "!!", "%", "---\n", "999999999999999999999", "-1", "0", "é", "\u{85}", "\u{2028}",
  ].map { Array($0.utf8) }

  private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let place = random.below(bytes.count + 1)
    switch random.below(5) {
    case 0: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
    case 1: if place < bytes.count { bytes.remove(at: place) }
    case 2: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
    case 3: bytes.insert(contentsOf: pieces[random.below(pieces.count)], at: place)
    default:
      let end = min(bytes.count, place + random.below(40))
      bytes.insert(contentsOf: Array(bytes[place..<end]), at: random.below(bytes.count + 1))
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() % UInt64(bound)) }
}
