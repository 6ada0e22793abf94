import HTTP2TestSupport
import Testing

@testable import HTTP2

/// What each side says of itself when a connection begins.
struct SettingsTests {
  /// The settings of the first frame that a peer sends.
  private func settings(of role: HTTP2Session.Role) throws -> [Int: Int] {
    let peer = try #require(Peer(role))
    let output = peer.output().dropFirst(role == .client ? 24 : 0)
    let frame = Array(output)
    try #require(frame.count > 9 && frame[3] == 4)
    let length = Int(frame[0]) << 16 | Int(frame[1]) << 8 | Int(frame[2])
    var found: [Int: Int] = [:]
    for at in stride(from: 9, to: 9 + length, by: 6) {
      found[Int(frame[at]) << 8 | Int(frame[at + 1])] = frame[at + 2..<at + 6].reduce(0) { $0 << 8 | Int($1) }
    }
    return found
  }

  /// SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218 section 2.1) would let the oldest answer go before all others.
  @Test(arguments: [HTTP2Session.Role.client, .server]) func nobodyGivesUpTakingTurns(role: HTTP2Session.Role) throws {
    #expect(try settings(of: role)[9] == nil)
  }

  @Test func aClientTakesNoPushes() throws {
    #expect(try settings(of: .client)[2] == 0)
    #expect(try settings(of: .server)[2] == nil)
  }
}
