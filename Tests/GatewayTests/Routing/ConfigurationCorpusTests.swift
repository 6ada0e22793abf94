import FuzzTestSupport
import GatewayTestSupport
import Testing

/// Replays what the fuzzer of configuration files starts from, and what it found.
@Suite struct ConfigurationCorpusTests {
  @Test func everyPropertyHoldsOfEveryFileAndOfItCutAtEachLine() throws {
    let files = try FuzzCorpus("Configuration").files
    #expect(files.count >= 15)
    let check = try #require(ConfigurationCheck())
    for (name, bytes) in files {
      let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") } + [bytes.count]
      for end in ends {
        #expect(check.fault(Array(bytes[..<end])) == nil, "\(name), \(end) bytes")
      }
    }
  }

  /// Else the rest would hold of nothing.
  @Test(arguments: ["plain", "service", "interceptors", "answers"])
  func whatIsRightIsCompiled(name: String) throws {
    let check = try #require(ConfigurationCheck())
    let file = try #require(try FuzzCorpus("Configuration").files.first { $0.name == name })
    #expect(check.outcome(file.bytes) == .compiled)
  }
}
