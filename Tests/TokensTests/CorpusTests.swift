import Foundation
import Testing
import TokensTestSupport

/// Replays what the fuzzer starts from, and what it found.
@Suite struct CorpusTests {
  @Test func everyPropertyHoldsOfEveryFileAndOfEveryBeginningOfIt() throws {
    let reading = try TokenReading()
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/Tokens/corpus")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 8)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      for end in 0...bytes.count {
        #expect(reading.fault(Array(bytes[..<end])) == nil, "\(file.lastPathComponent), \(end) bytes")
      }
    }
  }
}
