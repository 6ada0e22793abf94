import Bytes
import ProtoJSON
import ProtobufSchema
import RPC
import Testing

@testable import REST

/// Values that come in the order of their fields are written as they are read, without a tree; nobody can tell.
@Suite("Plain requests")
struct PlainRequestTests {
  /// The message's bytes, or the refusal.
  private func outcome(_ fixture: Fixture, _ target: String, body: String = "") -> String {
    var wire = ByteBuffer()
    var unknown: [String] = []
    do throws(RPCError) {
      try fixture.receive(target, Array(body.utf8), nil, &unknown, into: &wire)
    } catch {
      return error.short
    }
    return wire.hexadecimal
  }

  /// A separator in front says nothing, but is not plain.
  private func expectSame(_ fixture: Fixture, _ path: String, _ query: String) {
    let plain = outcome(fixture, "\(path)?\(query)")
    let careful = outcome(fixture, "\(path)?&\(query)")
    #expect(plain == careful, "\(path)?\(query)")
  }

  static let values = [
    "note=a", "note=", "note", "note=%41+b", "note=%", "note=%FF", "page_size=3", "pageSize=3", "page_size=x",
    "tracking_no=t", "trackingNo=u", "tag=a", "size=1", "only=2", "only=SIZE_X", "f[x]=q", "f%5Bx%5D=q", "odd=o",
    "card=c", "cash=1", "opt=0", "to.city=Oslo", "to=x", "labels=x", "nope=1", "b=true", "d=1.5", "u=1", "s=-1",
    "since=2026-01-02T03:04:05Z", "mask=a,b", "floor=0", "yes=false", "seal=__8", "any=1", "=x", "", "&",
    "a+b=1", "a%2Bb=1", "a%41=1", "a%2541=1", "%6Eote=a",
  ]

  @Test("two parameters mean the same with a tree and without one, in any order, also what is refused")
  func pairs() throws {
    let settings = [
      BindingSettings(), BindingSettings(ignoresUnknownQuery: true), BindingSettings(lists: .brackets),
      BindingSettings(lists: .commas),
    ]
    for settings in settings {
      let fixture = try Fixture(
        "p.ListReq", "p.ListRes", HTTPRule(method: "GET", path: "/v1/parcels"), settings: settings)
      for first in Self.values {
        for second in Self.values { expectSame(fixture, "/v1/parcels", "\(first)&\(second)") }
      }
    }
  }

  @Test("the path's values and those of the query meet: above, below, the same field, and lenient profiles")
  func withPath() throws {
    for profile in [JSONProfile.standard, JSONProfile(isLenient: true)] {
      let fixture = try Fixture(
        "p.ListReq", "p.ListRes", HTTPRule(method: "GET", path: "/v1/{note}/x/{tracking_no=**}"), profile: profile)
      for value in Self.values {
        for path in ["/v1/n/x/t", "/v1/n%2Fm/x/a%2Fb/c", "/v1/a/x", "/v1/a+b/x/%C3%A9", "/v1/%FF/x/a"] {
          expectSame(fixture, path, value)
        }
      }
    }
  }

  @Test("variables in another order than that of their fields, in messages, and beside an absent body")
  func otherRoutes() throws {
    let reversed = try Fixture(
      "p.ListReq", "p.ListRes", HTTPRule(method: "GET", path: "/v1/{tracking_no}/{note}"))
    #expect(try reversed.receive("/v1/t/n") == #"{"note":"n","trackingNo":"t"}"#)
    let nested = try Fixture("p.ListReq", "p.ListRes", HTTPRule(method: "GET", path: "/v1/{to.city}"))
    #expect(try nested.receive("/v1/Oslo?note=n") == #"{"note":"n","to":{"city":"Oslo"}}"#)
    let bodied = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1/{depot}", body: "parcel"))
    #expect(try bodied.receive("/v1/d?dry_run=true") == #"{"depot":"d","dryRun":true}"#)
    #expect(outcome(bodied, "/v1/d?parcel=x") == outcome(bodied, "/v1/d?&parcel=x"))
    let whole = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1/{depot}", body: "*"))
    #expect(try whole.receive("/v1/d") == #"{"depot":"d"}"#)
    #expect(outcome(whole, "/v1/d?dry_run=true") == outcome(whole, "/v1/d?&dry_run=true"))
    #expect(outcome(bodied, "/v1/d", body: "{}") != outcome(bodied, "/v1/d"))
  }

  @Test("requests in the order of their fields are read without a tree, others are not and leave nothing behind")
  func areTaken() throws {
    let fixture = try Fixture("p.ListReq", "p.ListRes", HTTPRule(method: "GET", path: "/v1/parcels"))
    let path = Array("/v1/parcels".utf8)
    for (query, isPlain) in [
      ("", true), ("note=a", true), ("note=%41+b&pageSize=3&tracking_no=t&opt=0", true), ("note=a&", true),
      ("page_size=3&note=a", false), ("note=a&note=a", false), ("note=", false), ("&note=a", false),
      ("tag=a", false), ("cash=1", false), ("to.city=x", false), ("page_size=x", false), ("nope=1", false),
    ] {
      var wire = ByteBuffer([7])
      let taken = fixture.binding.decodePlain(path.span, [], Array(query.utf8).span, into: &wire)
      #expect(taken == isPlain, "\(query)")
      #expect(taken || wire.bytes == [7], "\(query)")
    }
  }

  @Test("a route without a body refuses one, whatever the path says")
  func unwantedBody() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    #expect(outcome(fixture, "/v1/a", body: "{}").hasPrefix("400 "))
  }
}
