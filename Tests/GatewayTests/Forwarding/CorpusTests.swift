import FuzzTestSupport
import GatewayTestSupport
import Testing

/// Replays what the fuzzer of fields starts from, and what it found.
@Suite struct CorpusTests {
  @Test func everyPropertyHoldsOfEveryBeginningOfEveryFile() throws {
    let files = try FuzzCorpus("Fields").files
    #expect(files.count >= 10)
    let check = try #require(FieldCheck())
    for (name, bytes) in files {
      for end in 0...bytes.count {
        #expect(check.fault(Array(bytes[..<end])) == nil, "\(name), \(end) bytes")
      }
    }
  }
}
