import FuzzTestSupport
import ProxyProtocolTestSupport
import Testing

/// Replays what the fuzzer starts from, and what it found.
@Suite struct CorpusTests {
  @Test func everyPropertyHoldsOfEveryBeginningOfEveryFile() throws {
    let files = try FuzzCorpus("ProxyProtocol").files
    #expect(files.count >= 13)
    for (name, bytes) in files {
      for end in 0...bytes.count {
        #expect(ProxyHeaderCheck.fault(Array(bytes[..<end])) == nil, "\(name), \(end) bytes")
      }
    }
  }
}
