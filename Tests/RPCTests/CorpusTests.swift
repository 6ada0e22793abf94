import Foundation
import RPCTestSupport
import Testing

/// Replays what the fuzzer starts from, and what it found.
@Suite("Fuzz corpus of the wire")
struct CorpusTests {
  @Test("every property holds of every file, and of every beginning of it")
  func replay() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/RPC/corpus")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 14)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      for end in 0...bytes.count {
        #expect(WireCheck.fault(Array(bytes[..<end])) == nil, "\(file.lastPathComponent), \(end) bytes")
      }
    }
  }
}
