import Configuration
import Diagnostics
import EventLoops
import HTTPModel
import RandomnessTestSupport
import Testing

@testable import Gateway

@Suite struct ForwardedChainTests {
  private static func plan() -> ListenerPlan {
    var listener = ListenerConfiguration(
      address: SocketAddressConfiguration(
        host: "127.0.0.1", port: 0, position: SourcePosition(file: "", line: 1, column: 1)))
    // 10.0.0.0/8
    listener.trusted = [AddressRange(high: 0, low: 0xFFFF_0A00_0000, bits: 104)]
    return ListenerPlan(listener)
  }

  /// The client as a list of stops says it, by the plain rule.
  private static func expected(_ stops: [String], peer: String) -> String {
    var client = peer
    for stop in stops.reversed() {
      guard client.hasPrefix("10."), stop != "unknown", stop != "1.2.3" else { break }
      client = stop
    }
    return client
  }

  /// Whatever stands in the list and however it is spread over fields, nobody left of a stranger is believed, and both
  /// forms say the same.
  @Test func bothFormsFollowTheRule() throws {
    let plan = Self.plan()
    var random = SeededGenerator(seed: 8)
    let choices = ["10.1.1.1", "10.2.2.2", "198.51.100.7", "203.0.113.9", "unknown", "1.2.3"]
    for _ in 0..<2000 {
      let stops = (0..<Int.random(in: 0...6, using: &random)).map { _ in choices.randomElement(using: &random) ?? "" }
      let peer = Bool.random(using: &random) ? "10.9.9.9" : "10.8.8.8"
      let (list, elements) = (FieldBlock(), FieldBlock())
      var at = 0
      while at < stops.count {
        let part = stops[at..<min(stops.count, at + Int.random(in: 1...3, using: &random))]
        at += part.count
        let blank = ["", " ", "\t "].randomElement(using: &random) ?? ""
        list.append("x-forwarded-for", part.joined(separator: ",\(blank)"))
        elements.append("forwarded", part.map { "by=_a;for=\"\($0)\"" }.joined(separator: "\(blank),"))
      }
      let address = try #require(SocketAddress(host: peer, port: 1))
      let wanted = Self.expected(stops, peer: peer)
      let ofList = ForwardedChain.client(in: list, ForwardedForList.self, from: address, plan)
      let ofElements = ForwardedChain.client(in: elements, ForwardedElements.self, from: address, plan)
      #expect(ofList.address.host == wanted && ofElements.address.host == wanted, "\(stops)")
    }
  }

  @Test(
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:80", "192.0.2.1"), ("[2001:db8::1]", "2001:db8::1"),
      ("[2001:db8::1]:443", "2001:db8::1"), ("2001:db8::1", "2001:db8::1"), ("::1", "::1"),
      ("[::ffff:192.0.2.1]", "192.0.2.1"), ("", nil), ("[", nil), ("[]", nil), ("[::1", nil), ("[::1]x", nil),
      ("[::1]:", nil), ("[::1]:123456", nil), ("192.0.2.1:", nil), ("192.0.2.1:x", nil), ("_hidden", nil),
      ("fe80::1%1", nil), ("192.0.2", nil), ("192.0.2.1 ", nil), (String(repeating: ":", count: 60), nil),
    ] as [(String, String?)])
  func whatIsAStop(text: String, host: String?) {
    #expect(ForwardedNode.address(Array(text.utf8).span)?.host == host)
  }
}
