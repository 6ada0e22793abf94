import FuzzTestSupport
import RedisTestSupport
import Testing

/// Replays what the fuzzer starts from, and what it found.
@Suite struct CorpusTests {
  @Test func everyPropertyHoldsOfEveryBeginningOfEveryFile() throws {
    let files = try FuzzCorpus("Redis").files
    #expect(files.count >= 14)
    for (name, bytes) in files {
      for end in 0...bytes.count {
        #expect(ReplyCheck.fault(Array(bytes[..<end])) == nil, "\(name), \(end) bytes")
      }
    }
  }
}
