import Gateway
import Testing

@Suite struct AdminActorTests {
  /// One character may have any number of bytes.
  @Test(arguments: [
    String(repeating: "a", count: 500), "e" + String(repeating: "\u{301}", count: 500),
    String(repeating: "\u{1F469}\u{200D}", count: 90),
  ])
  func anAgentIsCutByItsBytes(agent: String) {
    let kept = AdminActor(address: "127.0.0.1", agent: agent).agent
    // A scalar that is cut in its middle becomes one of three bytes.
    #expect(kept.utf8.count >= 128 && kept.utf8.count <= 130)
    #expect(agent.utf8.starts(with: kept.utf8.prefix(124)))
  }

  @Test func aShortOneIsKept() { #expect(AdminActor(address: "", agent: "curl/8").agent == "curl/8") }
}
