import FuzzTestSupport
import Testing
import TranslationTestSupport

/// Replays what the fuzzers start from, and what they found.
@Suite("Fuzz corpora")
struct CorpusTests {
  @Test("the trie finds what trying all templates finds")
  func templates() throws {
    var accepted = 0
    var matched = 0
    for (name, bytes) in try FuzzCorpus("Templates").files {
      let check = TemplateCheck(bytes)
      #expect(check.fault == nil, "\(name)")
      accepted += check.accepted
      matched += check.matched
    }
    #expect(accepted >= 40)
    #expect(matched >= 40)
  }

  @Test("a query that is accepted is written as one that means the same")
  func queries() throws {
    let rig = try QueryCheck.Rig()
    var accepted = 0
    for (name, bytes) in try FuzzCorpus("Queries").files {
      let check = QueryCheck(rig, bytes)
      #expect(check.fault == nil, "\(name)")
      if check.isAccepted { accepted += 1 }
    }
    #expect(accepted >= 12)
  }
}
