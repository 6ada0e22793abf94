import FuzzTestSupport
import Testing
import TranslationTestSupport

/// Replays what the fuzzers start from, and what they found.
@Suite("Fuzz corpora")
struct CorpusTests {
  @Test("JSON that is accepted is written and read again as the same bytes")
  func json() throws {
    let rig = try CodecRig()
    var accepted = 0
    for (name, bytes) in try FuzzCorpus("JSON").files {
      let check = JSONCheck(rig, bytes)
      #expect(check.fault == nil, "\(name)")
      if check.isAccepted { accepted += 1 }
    }
    #expect(accepted >= 30)
  }

  @Test("bytes that become JSON are read from it again, and are the same JSON then")
  func wire() throws {
    let rig = try CodecRig()
    var accepted = 0
    for (name, bytes) in try FuzzCorpus("Wire").files {
      let check = WireCheck(rig, bytes)
      #expect(check.fault == nil, "\(name)")
      if check.isAccepted { accepted += 1 }
    }
    #expect(accepted >= 30)
  }

  /// Every beginning of a document, too.
  @Test("JSON that ends anywhere breaks nothing")
  func beginnings() throws {
    let rig = try CodecRig()
    for (name, bytes) in try FuzzCorpus("JSON").files where bytes.count < 300 {
      for end in bytes.indices {
        #expect(JSONCheck(rig, Array(bytes[..<end])).fault == nil, "\(name) to \(end)")
        #expect(WireCheck(rig, Array(bytes[..<end])).fault == nil, "\(name) to \(end) as bytes")
      }
    }
  }
}
