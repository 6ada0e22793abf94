import Foundation
import HTTP2TestSupport
import Testing

/// Replays what the fuzzer starts from, and what it found.
struct CorpusTests {
  private static var files: [URL] {
    get throws {
      let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fuzz/HTTP2/corpus")
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }
  }

  @Test func replay() throws {
    let files = try Self.files
    #expect(files.count >= 20)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      // Cut in many ways, whatever its second byte says.
      for seed in UInt8(0)...UInt8(255) where seed % 15 == 0 {
        var input = bytes
        if input.count > 1 { input[1] = seed }
        let check = SessionCheck(input)
        #expect(check.fault == nil, "\(file.lastPathComponent), seed \(seed)")
        #expect(!check.events.isEmpty, "\(file.lastPathComponent)")
      }
    }
  }

  /// Frames that are changed, left out, doubled and swapped.
  @Test func mutations() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    for file in try Self.files {
      let bytes = [UInt8](try Data(contentsOf: file))
      for _ in 0..<20 {
        var input = bytes
        for _ in 0...random(3) where input.count > 3 {
          let place = 2 + random(input.count - 2)
          switch random(4) {
          case 0: input[place] = UInt8(random(256))
          case 1: input.remove(at: place)
          case 2: input.insert(UInt8(random(256)), at: place)
          default: input += input[place...].prefix(60)
          }
        }
        #expect(SessionCheck(input).fault == nil, "\(file.lastPathComponent), seed \(seed): \(input)")
      }
    }
  }
}
