import Foundation
import HTTP1TestSupport
import Testing

/// Replays what the fuzzer starts from, and what it found.
@Suite("Fuzz corpus")
struct CorpusTests {
  @Test("every file means the same whole, byte by byte and at every split")
  func replay() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/HTTP1/corpus")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 12)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      for side in ConnectionTranscript.Side.allCases {
        let whole = ConnectionTranscript.of(side, bytes)
        #expect(!whole.isEmpty)
        #expect(ConnectionTranscript.byteWise(side, bytes) == whole, "\(file.lastPathComponent)")
        for split in bytes.indices {
          #expect(
            ConnectionTranscript.of(side, [bytes[..<split], bytes[split...]]) == whole,
            "\(file.lastPathComponent) at \(split)")
        }
      }
    }
  }
}
