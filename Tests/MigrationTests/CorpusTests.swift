import FuzzTestSupport
import MigrationTestSupport
import Testing

/// Replays what the fuzzers start from, and what they found.
@Suite struct CorpusTests {
  @Test func documents() throws {
    let files = try FuzzCorpus("Documents").files
    #expect(files.count >= 11)
    for (name, bytes) in files {
      for end in 0...bytes.count {
        #expect(DocumentCheck.fault(Array(bytes[..<end])) == nil, "\(name), \(end) bytes")
      }
    }
  }

  @Test func comparisons() throws {
    let files = try FuzzCorpus("Comparison").files
    #expect(files.count >= 8)
    let check = try ComparisonCheck()
    for (name, bytes) in files {
      for end in 0...bytes.count {
        #expect(check.fault(Array(bytes[..<end])) == nil, "\(name), \(end) bytes")
      }
    }
  }
}
