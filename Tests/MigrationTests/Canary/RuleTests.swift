import Configuration
import Diagnostics
import HTTPModel
import Testing

@testable import Migration

@Suite struct RuleTests {
  static let place = SourcePosition(file: "f", line: 1, column: 1)

  private func rules(_ rules: [([RouteSettings.CanaryCondition], RouteSettings.Side)]) -> CanaryRules {
    var faults: [Diagnostic] = []
    let made = CanaryRules(
      rules.map { RouteSettings.CanaryRule(conditions: $0.0, use: $0.1) }, faults: &faults)
    #expect(faults.isEmpty)
    return made
  }

  private func holds(_ test: RouteSettings.HeaderTest, _ values: String...) -> Bool {
    rules([([.header("x-a", test)], .rpc)]).side(for: Caller(values.map { ("X-A", $0) })) == .rpc
  }

  @Test func headersAreTested() {
    #expect(holds(.equals("b"), "b") && !holds(.equals("b"), "B") && !holds(.equals("b")) && holds(.equals(""), ""))
    #expect(holds(.present(true), "") && !holds(.present(true)))
    #expect(holds(.present(false)) && !holds(.present(false), "x"))
    #expect(holds(.prefix("ios/"), "ios/17") && !holds(.prefix("ios/"), "ios") && !holds(.prefix("a")))
    #expect(holds(.oneOf(["a", "b"]), "b") && !holds(.oneOf(["a", "b"]), "ab") && !holds(.oneOf([]), "a"))
    // The first counts.
    #expect(holds(.equals("b"), "b", "c") && !holds(.equals("b"), "c", "b"))
  }

  @Test(arguments: [("5.2.0", true), ("5.10", true), ("5.1.9", false), ("junk", false), ("", false)])
  func versionsAreCompared(_ version: String, _ holds: Bool) {
    let test = RouteSettings.HeaderTest.version(Reference(name: ">=5.2.0", position: Self.place))
    #expect(self.holds(test, version) == holds)
    #expect(!self.holds(test))
  }

  @Test func aRangeThatIsNoneIsReported() {
    var faults: [Diagnostic] = []
    let test = RouteSettings.HeaderTest.version(Reference(name: "~5", position: Self.place))
    _ = CanaryRules([RouteSettings.CanaryRule(conditions: [.header("a", test)], use: .rpc)], faults: &faults)
    #expect(faults.map(\.position) == [Self.place] && faults[0].what.contains("~5"))
  }

  @Test func addressesAndProtocolsAreTested() {
    let ten = AddressRange(high: 0, low: 0xFFFF_0A00_0000, bits: 104)
    let six = AddressRange(high: 0x2001_0DB8_0000_0000, low: 0, bits: 32)
    let made = rules([([.addresses([ten, six]), .protocols([.grpc, .connect])], .rpc)])
    var caller = Caller(address: (0, 0xFFFF_0AFF_0001))
    #expect(made.side(for: caller) == nil)
    caller.callerProtocol = .grpc
    #expect(made.side(for: caller) == .rpc)
    caller.addressBits = (0, 0xFFFF_0B00_0001)
    #expect(made.side(for: caller) == nil)
    caller.addressBits = (0x2001_0DB8_FFFF_FFFF, 7)
    #expect(made.side(for: caller) == .rpc)
    caller.addressBits = nil
    #expect(made.side(for: caller) == nil)
  }

  @Test func theFirstRuleThatFitsDecides() {
    let made = rules([
      ([.header("a", .present(true)), .header("b", .present(true))], .rest), ([.header("a", .present(true))], .rpc),
    ])
    #expect(made.side(for: Caller([("a", ""), ("b", "")])) == .rest)
    #expect(made.side(for: Caller([("a", "")])) == .rpc)
    #expect(made.side(for: Caller([("b", "")])) == nil)
  }

  @Test(arguments: [(0, true), (1, false), (64, false), (128, false)])
  func aRangeHasItsBits(_ bits: Int, _ holds: Bool) {
    #expect(AddressRange(high: 0, low: 1, bits: bits).contains(high: 1 << 63, low: 1) == holds)
    #expect(AddressRange(high: 5, low: 9, bits: bits).contains(high: 5, low: 9))
  }

  // MARK: Testers

  private func taken(_ values: [String], secret: String? = "s3cret", low: UInt64 = 1) -> SideOverride.Choice {
    var settings = RouteSettings.Override()
    settings.secret = secret
    settings.addresses = [AddressRange(high: 0, low: 0xFFFF_0A00_0000, bits: 104)]
    let caller = Caller(values.map { ("X-Turnout-Side", $0) } + [("x-other", "y")])
    let side = SideOverride(settings).take(from: caller.fields, address: (0, low))
    #expect(caller.fields.text(of: "x-turnout-side") == nil)
    #expect(caller.fields.text(of: "x-other") == "y")
    return side
  }

  @Test func testersChooseWithTheSecretOrFromTheirAddress() {
    let (rest, rpc) = (SideOverride.Choice.side(.rest), SideOverride.Choice.side(.rpc))
    #expect(taken(["rpc; s3cret"]) == rpc && taken(["REST;s3cret"]) == rest && taken(["rpc  ;  s3cret"]) == rpc)
    let office: UInt64 = 0xFFFF_0A01_0203
    #expect(taken(["rpc"], low: office) == rpc && taken(["rest; wrong"], secret: nil, low: office) == rest)
    #expect(taken([]) == .absent)
  }

  @Test(arguments: [
    ["rpc"], ["rpc;"], ["rpc; wrong!"], ["rpc; s3cre"], ["rpc; s3crets"], ["s3cret"], [""],
  ])
  func othersDoNot(values: [String]) {
    #expect(taken(values) == .refused(.secret))
    #expect(taken(values, secret: nil) == .refused(.secret))
  }

  @Test func aHeaderThatComesTwiceChoosesNothing() {
    #expect(taken(["rpc; s3cret", "rest; s3cret"]) == .refused(.twice))
    #expect(taken(["sideways; s3cret"]) == .refused(.side) && taken(["; s3cret"]) == .refused(.side))
  }
}
