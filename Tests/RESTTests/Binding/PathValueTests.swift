import ProtobufSchema
import REST
import Testing

@Suite("Path values")
struct PathValueTests {
  @Test(
    "one segment is decoded whole, once; a plus is a plus",
    arguments: [
      ("a%2Fb%20c", "a/b c"), ("a+b", "a+b"), ("%2523", "%23"), ("%C3%A9", "é"), ("box:7:x", "box:7:x"),
      ("..", ".."), ("a%00b", "a\\u0000b"),
    ])
  func single(segment: String, value: String) throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/parcels/{id}"))
    #expect(try fixture.receive("/v1/parcels/\(segment)") == "{\"id\":\"\(value)\"}")
  }

  @Test("several segments keep %2F as it was typed")
  func multi() throws {
    let fixture = try Fixture("p.NameReq", HTTPRule(method: "GET", path: "/v1/{name=depots/*/parcels/*}"))
    #expect(try fixture.receive("/v1/depots/d%2F1/parcels/p%20q") == #"{"name":"depots/d%2F1/parcels/p q"}"#)
    let deep = try Fixture("p.NameReq", HTTPRule(method: "GET", path: "/v1/files/{name=**}"))
    #expect(try deep.receive("/v1/files/x%2fy/z%20w") == #"{"name":"x%2fy/z w"}"#)
    #expect(try deep.receive("/v1/files") == "{}")
  }

  @Test("a malformed escape and bytes that are no UTF-8 are refused, naming the field")
  func malformed() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    #expect(try fixture.receive("/v1/%zz").hasPrefix("400 invalid_argument id: "))
    #expect(try fixture.receive("/v1/a%2").hasPrefix("400 invalid_argument id: "))
    #expect(try fixture.receive("/v1/%FF").hasPrefix("400 invalid_argument id: "))
  }

  @Test("scalars, enums and well-known types; nested fields by dotted path")
  func kinds() throws {
    let at = try Fixture("p.AtReq", HTTPRule(method: "GET", path: "/v1/{at}/{n}/{size}/{o}"))
    #expect(
      try at.receive("/v1/2026-03-01T10:00:00Z/9007199254740993/SIZE_L/0")
        == #"{"at":"2026-03-01T10:00:00Z","n":"9007199254740993","size":"SIZE_L","o":0}"#)
    #expect(try at.receive("/v1/yesterday/1/SIZE_L/0").hasPrefix("400 invalid_argument at: "))
    #expect(try at.receive("/v1/2026-03-01T10:00:00Z/x/SIZE_L/0").hasPrefix("400 invalid_argument n: "))
    #expect(try at.receive("/v1/2026-03-01T10:00:00Z/1/HUGE/0").hasPrefix("400 invalid_argument size: "))
    let nested = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{to.city}/{to.geo.lat}"))
    #expect(try nested.receive("/v1/Oslo/59.5") == #"{"to":{"city":"Oslo","geo":{"lat":59.5}}}"#)
  }
}
