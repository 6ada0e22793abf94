import Bytes
import Configuration
import HTTPModel
import RandomnessTestSupport
import Testing

@testable import Migration

/// A caller that a test makes up.
struct Caller: CanaryCaller {
  let fields = FieldBlock()
  var callerProtocol = RouteSettings.CallerProtocol.rest
  var addressBits: (high: UInt64, low: UInt64)?
  var claims: [String: String] = [:]

  init(_ fields: [(String, String)] = [], address: (high: UInt64, low: UInt64)? = nil) {
    for (name, value) in fields { self.fields.append(name, value) }
    addressBits = address
  }

  func claim(named name: String) -> String? { claims[name] }
}

@Suite struct StickyTests {
  static let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)

  /// Of the authors' reference implementation: the bytes 0, 1, 2, … so many of them.
  @Test(
    arguments: [
      (0, 0x726F_DB47_DD0E_0E31), (1, 0x74F8_39C5_93DC_67FD), (8, 0x93F5_F579_9A93_2462), (15, 0xA129_CA61_49BE_45E5),
      (63, 0x958A_324C_EB06_4572),
    ] as [(Int, UInt64)])
  func theHashIsSipHash24(_ count: Int, _ expected: UInt64) {
    let bytes = (0..<count).map { UInt8($0) }
    #expect(SipHash.hash(bytes.span, key: Self.key) == expected)
  }

  /// Computed by another program. If one of these changes, callers change sides with an upgrade.
  @Test(arguments: [
    ("", "user-1", 8245), ("library.v1.Library", "user-1", 716), ("library.v1.Library", "user-2", 6733),
    ("checkout", "user-1", 8592), ("checkout", "ünï", 659), ("", "", 1149),
  ])
  func placesAreTheSameForEver(_ salt: String, _ key: String, _ place: Int) {
    let hash = StickyHash(salt: salt).hash(Array(key.utf8).span)
    #expect(StickyHash.place(of: hash) == place)
  }

  @Test func placesHaveBounds() {
    #expect(StickyHash.place(of: 0) == 0)
    #expect(StickyHash.place(of: .max) == 9_999)
  }

  /// Over all shares: whoever is in a share is in every greater one.
  @Test func aGreaterShareMovesNobodyBack() throws {
    var random = SeededGenerator(seed: 6)
    let hash = StickyHash(salt: "a.v1.Service")
    let places = (0..<2_000).map { _ in
      let key = (0..<Int.random(in: 1...24, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      return StickyHash.place(of: hash.hash(key.span))
    }
    var before = 0
    for hundredths in 0...10_000 {
      let share = try #require(Share(hundredths: hundredths))
      let taken = places.count { share.takes(place: $0) }
      #expect(taken >= before)
      before = taken
    }
    #expect(before == places.count)
    #expect(places.count { Share.none.takes(place: $0) } == 0)
  }

  @Test(arguments: ["", "a.v1.Service", "checkout"])
  func aShareIsWhatItSays(salt: String) throws {
    let hash = StickyHash(salt: salt)
    let share = try #require(Share(percent: 30))
    let taken = (0..<20_000).count {
      share.takes(place: StickyHash.place(of: hash.hash(Array("user-\($0)".utf8).span)))
    }
    #expect((5_700...6_300).contains(taken))
  }

  @Test func twoSaltsChooseIndependently() throws {
    let (one, other) = (StickyHash(salt: "one"), StickyHash(salt: "two"))
    let half = try #require(Share(percent: 50))
    let both = (0..<20_000).count { number in
      let key = Array("user-\(number)".utf8)
      return half.takes(place: StickyHash.place(of: one.hash(key.span)))
        && half.takes(place: StickyHash.place(of: other.hash(key.span)))
    }
    #expect((4_700...5_300).contains(both))
  }

  // MARK: Keys

  private func keys(_ stickyBy: [RouteSettings.StickyKey], salt: String? = nil) -> StickyKeys {
    var canary = RouteSettings.Canary()
    canary.stickyBy = stickyBy
    canary.salt = salt
    return StickyKeys(canary, salt: "s")
  }

  private func hash(_ text: String) -> UInt64 { StickyHash(salt: "s").hash(Array(text.utf8).span) }

  @Test func theFirstKeyThatIsThereCounts() {
    let keys = keys([.header("x-user-id"), .cookie("sid"), .claim("sub")])
    #expect(keys.hash(of: Caller([("X-User-Id", "u1"), ("Cookie", "sid=c1")])) == hash("u1"))
    #expect(keys.hash(of: Caller([("x-user-id", ""), ("cookie", "a=b; sid=c1; sid=c2")])) == hash("c1"))
    #expect(keys.hash(of: Caller([("cookie", "xsid=1"), ("cookie", "a=1;sid=c3")])) == hash("c3"))
    var caller = Caller([("cookie", "sid=; sidd=1; =2; sid")])
    caller.claims = ["sub": "k1"]
    #expect(keys.hash(of: caller) == hash("k1"))
  }

  @Test func aKnownHeaderIsAKeyToo() {
    #expect(keys([.header("user-agent")]).hash(of: Caller([("User-Agent", "u1")])) == hash("u1"))
  }

  @Test func withoutAKeyTheAddressCounts() {
    let keys = keys([.header("x-user-id")])
    let one = Caller(address: (0, 0xFFFF_0A00_0001))
    let other = Caller(address: (0, 0xFFFF_0A00_0002))
    #expect(keys.hash(of: one) == keys.hash(of: one))
    #expect(keys.hash(of: one) != keys.hash(of: other))
    #expect(keys.hash(of: one) == self.keys([.clientAddress, .header("x-user-id")]).hash(of: one))
    // Of IPv6 the network: phones change the rest.
    let home = Caller(address: (0x2001_0DB8_0000_0001, 1))
    #expect(keys.hash(of: home) == keys.hash(of: Caller(address: (0x2001_0DB8_0000_0001, 99))))
    #expect(keys.hash(of: home) != keys.hash(of: Caller(address: (0x2001_0DB8_0000_0002, 1))))
  }

  @Test func aSaltOfTheFileTakesThePlaceOfTheUsual() {
    let caller = Caller([("a", "u1")])
    #expect(keys([.header("a")], salt: "t").hash(of: caller) == StickyHash(salt: "t").hash(Array("u1".utf8).span))
  }
}
