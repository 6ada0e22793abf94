import Bytes
import Testing

@testable import Gateway

@Suite("The latest agent")
struct LatestAgentTests {
  @Test("a key is found once for calls in a row, and anew for any other fields")
  func rows() {
    var latest = LatestAgent()
    var found: [String] = []
    func key(_ agent: String, _ version: String) -> UInt64 {
      let (agent, version) = (Array(agent.utf8), Array(version.utf8))
      return latest.key(agent.span, version.span) { agent, version in
        found.append("\(String(repairing: agent))|\(String(repairing: version))")
        return UInt64(found.count)
      }
    }
    // Nothing is a caller, too.
    #expect(key("", "") == 1)
    #expect(key("", "") == 1)
    #expect(key("app/1", "") == 2)
    #expect(key("app/1", "") == 2)
    #expect(key("app/1", "7") == 3)
    #expect(key("app/", "17") == 4)
    #expect(key("app/1", "7") == 5)
    #expect(key("app/1", "7") == 5)
    #expect(found == ["|", "app/1|", "app/1|7", "app/|17", "app/1|7"])
  }

  @Test("long fields are not kept, and forget what was")
  func long() {
    var latest = LatestAgent()
    let (short, long) = (Array("a".utf8), [UInt8](repeating: 0x61, count: 300))
    var finds = 0
    func key(_ agent: [UInt8]) -> UInt64 {
      latest.key(agent.span, [UInt8]().span) { agent, _ in
        finds += 1
        return UInt64(agent.count)
      }
    }
    #expect(key(short) == 1)
    #expect(key(long) == 300)
    #expect(key(long) == 300)
    #expect(key(short) == 1)
    #expect(finds == 4)
  }
}
