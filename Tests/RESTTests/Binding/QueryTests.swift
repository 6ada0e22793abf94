import Bytes
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Query parameters")
struct QueryTests {
  func list(_ settings: BindingSettings = BindingSettings()) throws -> Fixture {
    try Fixture("p.ListReq", "p.ListRes", HTTPRule(method: "GET", path: "/v1/parcels"), settings: settings)
  }

  @Test(
    "every type",
    arguments: [
      ("", "{}"), ("note=a+b%2Bc%20d", #"{"note":"a b+c d"}"#), ("note=null", #"{"note":"null"}"#),
      ("note=", "{}"), ("note", "{}"), ("&&note=x&", #"{"note":"x"}"#), ("note=a=b", #"{"note":"a=b"}"#),
      ("note=a;b", #"{"note":"a;b"}"#), ("note=%C3%A9", #"{"note":"é"}"#), ("note=a,b", #"{"note":"a,b"}"#),
      ("tag=a&tag=b&tag=", #"{"tag":["a","b",""]}"#), ("tag=a,b", #"{"tag":["a,b"]}"#),
      ("size=SIZE_L", #"{"size":["SIZE_L"]}"#),
      ("size=1&note=n&size=SIZE_L", #"{"size":["SIZE_S","SIZE_L"],"note":"n"}"#),
      ("only=SIZE_S", #"{"only":"SIZE_S"}"#), ("only=2", #"{"only":"SIZE_L"}"#),
      ("trackingNo=1", #"{"trackingNo":"1"}"#), ("tracking_no=1", #"{"trackingNo":"1"}"#),
      ("f%5Bx%5D=q", #"{"f[x]":"q"}"#), ("f[x]=q", #"{"f[x]":"q"}"#), ("odd=q", #"{"f[x]":"q"}"#),
      ("%6eote=x", #"{"note":"x"}"#), ("page_size=-7", #"{"pageSize":-7}"#), ("pageSize=1e2", #"{"pageSize":100}"#),
      ("seal=__8", #"{"seal":"//8="}"#), ("seal=__8%3D", #"{"seal":"//8="}"#), ("seal=%2F%2F8%3D", #"{"seal":"//8="}"#),
      ("since=2026-01-02T03:04:05.5%2B01:00", #"{"since":"2026-01-02T02:04:05.500Z"}"#),
      ("since=0001-01-01T00:00:00Z", #"{"since":"0001-01-01T00:00:00Z"}"#),
      ("within=3600s", #"{"within":"3600s"}"#), ("within=0.5s", #"{"within":"0.500s"}"#),
      ("mask=a,trackingNo,to.city", #"{"mask":"a,trackingNo,to.city"}"#),
      ("floor=0", #"{"floor":0}"#), ("name=", #"{"name":""}"#), ("yes=false", #"{"yes":false}"#),
      ("card=x", #"{"card":"x"}"#), ("cash=0", #"{"cash":0}"#), ("opt=0", #"{"opt":0}"#),
      ("d=NaN", #"{"d":"NaN"}"#), ("d=-Infinity&f=1.5", #"{"d":"-Infinity","f":1.5}"#), ("b=true", #"{"b":true}"#),
      ("u=18446744073709551615", #"{"u":"18446744073709551615"}"#), ("s=-5&fx=9", #"{"s":-5,"fx":"9"}"#),
      (
        "times=2026-01-01T00:00:00Z&times=2026-01-02T00:00:00Z",
        #"{"times":["2026-01-01T00:00:00Z","2026-01-02T00:00:00Z"]}"#
      ),
      (
        "to.city=Oslo&note=n&to.geo.lat=59.9&to.geo.lon=1",
        #"{"note":"n","to":{"city":"Oslo","geo":{"lat":59.9,"lon":1}}}"#
      ),
      ("grp.lat=1&grp.lon=2", #"{"grp":{"lat":1,"lon":2}}"#),
      ("self.self.note=x&self.note=y", #"{"self":{"note":"y","self":{"note":"x"}}}"#),
    ])
  func values(query: String, expected: String) throws {
    #expect(try list().receive("/v1/parcels?\(query)") == expected)
  }

  @Test(
    "lists with commas: each comma parts two elements, and nothing at all is none",
    arguments: [
      ("tag=a,b", #"{"tag":["a","b"]}"#), ("tag=a,", #"{"tag":["a",""]}"#), ("tag=,a", #"{"tag":["","a"]}"#),
      ("tag=,", #"{"tag":["",""]}"#), ("tag=a,,b,", #"{"tag":["a","","b",""]}"#), ("tag=", "{}"), ("tag", "{}"),
      ("tag=a%2C,b&note=x,", #"{"tag":["a,","b"],"note":"x,"}"#), ("nums=1,2", #"{"nums":[1,2]}"#),
    ])
  func lists(query: String, expected: String) throws {
    #expect(try list(BindingSettings(lists: .commas)).receive("/v1/parcels?\(query)") == expected)
  }

  @Test func anEmptyNumberInAListIsRefusedWhereverItStands() throws {
    for query in ["nums=1,", "nums=,1", "nums=1,,2"] {
      #expect(try list(BindingSettings(lists: .commas)).receive("/v1/parcels?\(query)").contains("nums: "), "\(query)")
    }
  }

  @Test(
    "refusals name the parameter",
    arguments: [
      ("nope=1", "nope: unknown"), ("Note=1", "Note: unknown"), ("to.nope=1", "to.nope: unknown"),
      (".=1", ".: unknown"),
      ("to.=1", "to.: unknown"), ("=1", "unknown query parameter"), ("labels[a]=1", "labels[a]: unknown"),
      ("labels.a=1", "labels.a: a map"), ("labels=1", "labels: a map"), ("route=1", "route: a repeated message"),
      ("route.lat=1", "route.lat: fields of a repeated message"), ("to=1", "to: a message cannot"),
      ("note.x=1", "note.x: note has no fields"), ("since.seconds=1", "since.seconds: since has no fields"),
      ("any=1", "any: a message cannot"), ("any.value=1", "any.value: any has no fields"),
      ("page_size=1&page_size=2", "page_size: given twice"), ("page_size=1&pageSize=1", "pageSize: given twice"),
      ("to.city=a&to.city=b", "to.city: given twice"), ("card=x&cash=1", "cash: cannot be set beside card"),
      ("to.unit=x&note=n&to.floor=1", "to.floor: cannot be set beside to.unit"),
      ("only=small", "only: "), ("page_size=x", "page_size: "), ("page_size=1.5", "page_size: "), ("b=1x", "b: "),
      ("since=null", "since: "), ("since=0000-01-01T00:00:00Z", "since: "), ("within=1h", "within: "),
      ("seal=%21", "seal: "), ("note=%zz", "note: a malformed escape"), ("n%zz=1", "n%zz: a malformed escape"),
      ("note=%FF", "note: "), ("u=-1", "u: "), ("floor=x", "floor: "), ("page_size=", "page_size: "),
    ])
  func refusals(query: String, part: String) throws {
    let answer = try list().receive("/v1/parcels?\(query)")
    #expect(answer.hasPrefix("400 invalid_argument \(part)"), "\(answer)")
  }

  @Test("a refusal carries a BadRequest that names the field")
  func detail() throws {
    var wire = ByteBuffer()
    var unknown: [String] = []
    let error = #expect(throws: RPCError.self) {
      try list().receive("/v1/parcels?a.b=1", [], nil, &unknown, into: &wire)
    }
    #expect(error?.details == [ErrorDetail.badRequest([(field: "a.b", description: "unknown query parameter")])])
  }

  @Test("unknown names are ignored where the route says so; what is known stays strict")
  func ignoring() throws {
    let all = try list(BindingSettings(ignoresUnknownQuery: true))
    #expect(try all.receive("/v1/parcels?nope=1&note=n&%24alt=json") == #"{"note":"n"}"#)
    #expect(try all.receive("/v1/parcels?route.lat=1").hasPrefix("400"))
    #expect(try all.receive("/v1/parcels?page_size=x").hasPrefix("400"))
    let some = try list(BindingSettings(ignoredQuery: ["$alt", "utm_*", "*.debug", "labels*", "a*b*c"]))
    #expect(
      try some.receive("/v1/parcels?%24alt=json&utm_=1&utm_source=x&x.debug=1&labels.q=1&abc=&aXbXbc=1&note=n")
        == #"{"note":"n"}"#)
    for name in ["%24al", "utm", "utmx", "debug", "ab", "abcd"] {
      #expect(try some.receive("/v1/parcels?\(name)=1").hasPrefix("400 invalid_argument"), "\(name)")
    }
  }

  @Test("messages are assembled once, fields by number, repeated scalars packed")
  func canonical() throws {
    var wire = ByteBuffer()
    var unknown: [String] = []
    try list().receive(
      "/v1/parcels?to.geo.lon=1&nums=1&to.city=x&page_size=2&nums=300&tag=b&to.street=s&tag=a", [], nil, &unknown,
      into: &wire)
    #expect(
      wire.hexadecimal
        == "0a 01 62 0a 01 61 28 02 32 11 0a 01 73 12 01 78 1a 09 11 00 00 00 00 00 00 f0 3f da 01 03 01 ac 02")
  }

  @Test("a parameter that repeats what the path says is fine, another value is not")
  func path() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{to.unit}/{page_size}"))
    #expect(try fixture.receive("/v1/a/5?pageSize=5&to.city=c") == #"{"pageSize":5,"to":{"city":"c","unit":"a"}}"#)
    #expect(
      try fixture.receive("/v1/a/5?pageSize=6") == "400 invalid_argument pageSize: contradicts page_size in the path")
    #expect(
      try fixture.receive("/v1/a/5?to.floor=1").hasPrefix("400 invalid_argument to.floor: cannot be set beside to.unit")
    )
  }

  @Test("a body that takes all leaves nothing for the query; one that takes a field, not that field")
  func bodies() throws {
    let whole = try Fixture("p.ListReq", HTTPRule(method: "POST", path: "/v1/s", body: "*"))
    #expect(try whole.receive("/v1/s?page_size=9", body: "{}").hasPrefix("400 invalid_argument page_size: unknown"))
    #expect(try whole.receive("/v1/s?page_size=9").hasPrefix("400 invalid_argument page_size: unknown"))
    let part = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1/{depot}", body: "parcel"))
    #expect(
      try part.receive("/v1/d?dry_run=true", body: #"{"id":"x"}"#)
        == #"{"depot":"d","parcel":{"id":"x"},"dryRun":true}"#)
    #expect(
      try part.receive("/v1/d?parcel.id=1", body: "{}").hasPrefix(
        "400 invalid_argument parcel.id: this field is in the body"))
  }

  @Test("names that lead deeper than messages may be nested are refused, however deep")
  func depths() throws {
    let fixture = try list()
    let deepest = String(repeating: "self.", count: 99) + "note=x"
    #expect(try fixture.receive("/v1/parcels?\(deepest)").contains(#""note":"x""#))
    for depth in [100, 30_000] {
      let name = String(repeating: "self.", count: depth) + "note"
      let answer = try fixture.receive("/v1/parcels?\(name)=x")
      // Long names are cut.
      #expect(answer.hasPrefix("400 invalid_argument self.self."))
      #expect(answer.hasSuffix(": at most 100 levels of messages expected"))
    }
  }

  @Test("JSON names with dots, and names of nothing but dots")
  func dots() throws {
    let fixture = try Fixture(
      "p.DotReq", "p.Parcel", HTTPRule(method: "GET", path: "/v1/d"),
      more: "p.DotReq: 1 a string json=x.y.z, 2 b p.DotReq json=u.v\n")
    #expect(try fixture.receive("/v1/d?x.y.z=1") == #"{"x.y.z":"1"}"#)
    #expect(try fixture.receive("/v1/d?u.v.a=1") == #"{"u.v":{"x.y.z":"1"}}"#)
    #expect(try fixture.receive("/v1/d?u.v.x.y.z=1") == #"{"u.v":{"x.y.z":"1"}}"#)
    for name in ["y.x.z", "u.v.zz.z", String(repeating: ".", count: 100_000)] {
      let answer = try fixture.receive("/v1/d?\(name)=1")
      #expect(answer.hasPrefix("400 invalid_argument \(name.prefix(100))"))
      #expect(answer.hasSuffix(": unknown query parameter"))
    }
  }

  @Test("a query of thousands of values, and every cut of one")
  func sizes() throws {
    let fixture = try list()
    let many = (0..<2_000).map { "tag=\($0)" }.joined(separator: "&")
    let answer = try fixture.receive("/v1/parcels?\(many)")
    #expect(answer.hasSuffix(#""1999"]}"#))
    let query = "note=a%20b&to.geo.lat=1&size=SIZE_L&f%5Bx%5D=q"
    for length in 0...query.count {
      let answer = try fixture.receive("/v1/parcels?\(query.prefix(length))")
      #expect(answer.hasPrefix("{") || answer.hasPrefix("400 invalid_argument"))
    }
  }
}
