import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import Testing

@Suite("Requests to REST backends")
struct ReverseTests {
  @Test("single segments are escaped whole")
  func single() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/parcels/{id}"))
    #expect(try fixture.send(#"{"id":"a/b c?"}"#) == "/v1/parcels/a%2Fb%20c%3F")
    #expect(
      try fixture.send(#"{"id":"é+%2F:~-._","view":"x y&=+"}"#)
        == "/v1/parcels/%C3%A9%2B%252F%3A~-._?view=x%20y%26%3D%2B")
    #expect(try fixture.send(#"{"id":"a\u0000\r\nb"}"#) == "/v1/parcels/a%00%0D%0Ab")
  }

  @Test(
    "values that fit no path are refused",
    arguments: ["", ".", "..", "../x", "a/../b", "a/..", "a\\\\..\\\\b", "./x"])
  func misfits(value: String) throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/parcels/{id}"))
    #expect(try fixture.send("{\"id\":\"\(value)\"}").hasPrefix("400 invalid_argument id: "))
  }

  @Test("names with dots that are no dot segments pass")
  func dots() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/parcels/{id}"))
    for value in ["...", ".a", "a.", "a..b", "..a"] {
      #expect(try fixture.send("{\"id\":\"\(value)\"}") == "/v1/parcels/\(value)")
    }
  }

  @Test("several segments keep slashes and %2F, and must have the template's shape")
  func multi() throws {
    let fixture = try Fixture("p.NameReq", HTTPRule(method: "GET", path: "/v1/{name=depots/*/parcels/*}:read"))
    #expect(try fixture.send(#"{"name":"depots/d%2F1/parcels/p q"}"#) == "/v1/depots/d%2F1/parcels/p%20q:read")
    for name in [
      "", "depots", "depots/d", "depots/d/parcels", "depots/d/parcels/", "depots//parcels/p", "depots/d/parcels/p/x",
      "/depots/d/parcels/p", "shelves/d/parcels/p", "depots/../parcels/p", "depots/..%2fx/parcels/p",
    ] {
      #expect(try fixture.send("{\"name\":\"\(name)\"}").hasPrefix("400 invalid_argument name: "), "\(name)")
    }
    let deep = try Fixture("p.NameReq", HTTPRule(method: "GET", path: "/v1/{name=files/**}"))
    #expect(try deep.send(#"{"name":"files/a/b"}"#) == "/v1/files/a/b")
    #expect(try deep.send(#"{"name":"files"}"#) == "/v1/files")
    for name in ["files/", "files/a//b", "files/a/", "file", "files/a/../../b"] {
      #expect(try deep.send("{\"name\":\"\(name)\"}").hasPrefix("400"), "\(name)")
    }
    let open = try Fixture("p.NameReq", HTTPRule(method: "GET", path: "/v1/{name=**}:stat"))
    #expect(try open.send("{}") == "/v1:stat")
    #expect(try open.send(#"{"name":"a"}"#) == "/v1/a:stat")
    #expect(try open.send(#"{"name":"/a"}"#).hasPrefix("400"))
  }

  @Test("a variable over one literal takes nothing else; literals keep their spelling")
  func literals() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v%201/{id=x}/é/t%3Au/**"))
    #expect(try fixture.send(#"{"id":"x"}"#) == "/v%201/x/%C3%A9/t%3Au")
    #expect(try fixture.send(#"{"id":"y"}"#).hasPrefix("400 invalid_argument id: must be x"))
  }

  @Test("unset values: zero for numbers, a refusal where presence counts")
  func unset() throws {
    let fixture = try Fixture("p.AtReq", HTTPRule(method: "GET", path: "/v1/{n}/{size}"))
    #expect(try fixture.send("{}") == "/v1/0/SIZE_UNSPECIFIED")
    #expect(
      try fixture.send(#"{"n":"-5","size":"SIZE_L","o":0,"at":"2026-01-01T00:00:00Z"}"#)
        == "/v1/-5/SIZE_L?at=2026-01-01T00%3A00%3A00Z&o=0")
    let optional = try Fixture("p.AtReq", HTTPRule(method: "GET", path: "/v1/{o}"))
    #expect(try optional.send("{}").hasPrefix("400 invalid_argument o: must be set"))
    #expect(try optional.send(#"{"o":0}"#) == "/v1/0")
    let at = try Fixture("p.AtReq", HTTPRule(method: "GET", path: "/v1/{at}"))
    #expect(try at.send(#"{"at":"2026-01-01T00:00:00.5Z"}"#) == "/v1/2026-01-01T00%3A00%3A00.500Z")
    #expect(try at.send("{}").hasPrefix("400 invalid_argument at: must be set"))
  }

  @Test("the rest goes to the query: set fields only, by number, JSON names")
  func query() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/parcels"))
    let json = #"""
      {"tag":["a b","c&d"],"only":"SIZE_L","to":{"city":"Oslo","geo":{"lat":1.5}},"pageSize":0,"size":["SIZE_S","SIZE_L"],
      "seal":"//8=","since":"2026-01-01T00:00:00Z","within":"1.5s","mask":"a,trackingNo","floor":0,"trackingNo":"t",
      "f[x]":"q","cash":0,"d":"NaN","b":true,"u":"18446744073709551615","s":-3,"fx":"7","opt":0,"nums":[1,300,0],
      "times":["2026-01-01T00:00:00Z"],"nothing":{},"name":"","yes":false,"grp":{"lon":2}}
      """#
    #expect(
      try fixture.send(json)
        == "/v1/parcels?tag=a%20b&tag=c%26d&size=SIZE_S&size=SIZE_L&only=SIZE_L&to.city=Oslo&to.geo.lat=1.5&seal=__8"
        + "&since=2026-01-01T00%3A00%3A00Z&within=1.500s&mask=a%2CtrackingNo&floor=0&trackingNo=t&f%5Bx%5D=q&cash=0"
        + "&d=NaN&b=true&u=18446744073709551615&s=-3&fx=7&opt=0&times=2026-01-01T00%3A00%3A00Z&nums=1&nums=300&nums=0"
        + "&name=&yes=false&grp.lon=2")
    var profile = JSONProfile.standard
    profile.protoFieldNames = true
    let legacy = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/parcels"), profile: profile)
    #expect(try legacy.send(#"{"pageSize":3,"f[x]":"q"}"#) == "/v1/parcels?page_size=3&odd=q")
  }

  @Test("what a query cannot hold is refused only when it is set")
  func unsendable() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/parcels"))
    #expect(try fixture.send(#"{"route":[{"lat":1}]}"#).hasPrefix("400 invalid_argument route: "))
    #expect(try fixture.send(#"{"labels":{"a":"b"}}"#).hasPrefix("400 invalid_argument labels: "))
    #expect(try fixture.send(#"{"self":{"route":[{}]}}"#).hasPrefix("400 invalid_argument self.route: "))
    #expect(try fixture.send(#"{"route":[],"labels":{}}"#) == "/v1/parcels")
    let many = (0..<5_000).map { _ in #""x""# }.joined(separator: ",")
    #expect(try fixture.send(#"{"tag":["# + many + "]}").hasPrefix("400 invalid_argument more values"))
    let long = String(repeating: "x", count: 70_000)
    #expect(try fixture.send("{\"note\":\"\(long)\"}").hasPrefix("400 invalid_argument the request would need a URL"))
  }

  @Test("fields that others replace, and messages of nothing, count as values: the work for a query is bounded")
  func replacedValues() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/parcels"))
    // card and cash, members of one oneof; self, which is empty; one packed list of nums.
    let pair: [UInt8] = [0x82, 0x01, 0x00, 0x88, 0x01, 0x01]
    let empty: [UInt8] = [0xE2, 0x01, 0x00]
    func packed(_ count: Int) -> [UInt8] {
      [0xDA, 0x01, UInt8(count & 0x7F) | 0x80, UInt8(count >> 7)] + [UInt8](repeating: 1, count: count)
    }
    #expect(fixture.send(wire: (0..<2_048).flatMap { _ in pair }) == "/v1/parcels?cash=1")
    #expect(fixture.send(wire: (0..<4_096).flatMap { _ in empty }) == "/v1/parcels")
    #expect(fixture.send(wire: packed(4_095)).hasSuffix("&nums=1"))
    let tooMany = [(0..<2_049).flatMap { _ in pair }, (0..<4_097).flatMap { _ in empty }, packed(4_096)]
    for wire in tooMany {
      #expect(fixture.send(wire: wire).hasPrefix("400 invalid_argument more values"))
    }
  }

  @Test("where another member of the oneof is set, the field that is the body is not sent")
  func oneofOfTheBody() throws {
    for path in ["/v1/p", "/v1/{other}"] {
      let fixture = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: path, body: "parcel"))
      let target = path == "/v1/p" ? "/v1/p?other=x" : "/v1/x"
      #expect(try fixture.send(#"{"other":"x"}"#) == target)
      #expect(try fixture.receive(target) == #"{"other":"x"}"#)
    }
    let fixture = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1/p", body: "parcel"))
    #expect(try fixture.send(#"{"parcel":{"id":"a"}}"#) == #"/v1/p [application/json] {"id":"a"}"#)
    #expect(try fixture.send("{}") == "/v1/p [application/json] {}")
  }

  @Test("wire bytes that no encoder writes: split messages, last one wins, cleared oneofs, packed or not")
  func oddWire() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{to.city}"))
    // to {city "a"}, note "1", to {street "s" city "b"}, note "2", page_size 5, page_size 0.
    let split: [UInt8] =
      [0x32, 3, 0x12, 1, 0x61, 0x22, 1, 0x31, 0x32, 6, 0x0A, 1, 0x73, 0x12, 1, 0x62, 0x22, 1, 0x32] + [
        0x28, 5, 0x28, 0,
      ]
    #expect(fixture.send(wire: split) == "/v1/b?note=2&to.street=s")
    let plain = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/x"))
    // card "c", cash 1: only cash is left; card again: only card.
    #expect(plain.send(wire: [0x82, 1, 1, 0x63, 0x88, 1, 1]) == "/v1/x?cash=1")
    #expect(plain.send(wire: [0x88, 1, 1, 0x82, 1, 1, 0x63]) == "/v1/x?card=c")
    // nums unpacked, then packed; an unknown field 500; a padded zero varint in page_size.
    #expect(plain.send(wire: [0xD8, 1, 1, 0xDA, 1, 2, 2, 3, 0xA0, 0x1F, 9]) == "/v1/x?nums=1&nums=2&nums=3")
    #expect(plain.send(wire: [0x28, 0x80, 0x00]) == "/v1/x")
    // note with a varint: another wire type is no value of it.
    #expect(plain.send(wire: [0x20, 1]) == "/v1/x")
    // since {seconds 1}, mask {a}, since {nanos 500000000}, mask {b}: each is one message.
    let parts: [UInt8] =
      [0x42, 2, 0x08, 1, 0x52, 3, 0x0A, 1, 0x61] + [
        0x42, 6, 0x10, 0x80, 0xCA, 0xB5, 0xEE, 0x01, 0x52, 3, 0x0A, 1, 0x62,
      ]
    #expect(plain.send(wire: parts) == "/v1/x?since=1970-01-01T00%3A00%3A01.500Z&mask=a%2Cb")
    let since = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{self.since}"))
    // The same in self, which is in two parts too.
    let inner: [UInt8] = [0xE2, 1, 4] + parts.prefix(4) + [0xE2, 1, 8] + parts.dropFirst(9).prefix(8)
    #expect(since.send(wire: inner) == "/v1/1970-01-01T00%3A00%3A01.500Z")
    #expect(since.send(wire: [0xE2, 1, 0]).hasPrefix("400 invalid_argument self.since: must be set"))
    let card = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{card}"))
    #expect(card.send(wire: [0x82, 1, 1, 0x63, 0x88, 1, 1]).hasPrefix("400 invalid_argument card: must be set"))
  }

  @Test("malformed wire bytes are refused, at every cut")
  func malformed() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/{note}"))
    let wire = try fixture.wire(#"{"note":"n","to":{"geo":{"lat":1}},"nums":[1,300],"tag":["abc"]}"#, "p.ListReq")
    for length in 0..<wire.count {
      let answer = fixture.send(wire: Array(wire.prefix(length)))
      #expect(answer.hasPrefix("/v1/n") || answer.hasPrefix("400 invalid_argument"), "\(answer)")
    }
    #expect(fixture.send(wire: [0x22, 9, 1]).hasPrefix("400 invalid_argument a malformed protobuf message"))
    #expect(fixture.send(wire: [0x0F]).hasPrefix("400 invalid_argument a malformed protobuf message"))
  }

  @Test("bodies: whole without the path's fields, a field, raw")
  func bodies() throws {
    let whole = try Fixture("p.CancelReq", HTTPRule(method: "POST", path: "/v1/{id}/{secret.id}", body: "*"))
    #expect(
      try whole.send(#"{"id":"i","reason":"r","secret":{"id":"s","tags":["t"]}}"#)
        == #"/v1/i/s [application/json] {"reason":"r","secret":{"tags":["t"]}}"#)
    let part = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1/{depot}/{parcel.id}", body: "parcel"))
    #expect(
      try part.send(#"{"depot":"d","parcel":{"id":"p","trackingNo":"t"},"dryRun":true}"#)
        == #"/v1/d/p?dryRun=true [application/json] {"trackingNo":"t"}"#)
    let tags = try Fixture("p.TagsMsg", HTTPRule(method: "PUT", path: "/v1/{id}", body: "tags"))
    #expect(try tags.send(#"{"id":"p","tags":["a"],"n":2}"#) == #"/v1/p?n=2 [application/json] ["a"]"#)
    #expect(try tags.send(#"{"id":"p"}"#) == #"/v1/p [application/json] []"#)
    let scan = try Fixture("p.ScanReq", HTTPRule(method: "PUT", path: "/v1/{id}", body: "scan"))
    #expect(try scan.send(#"{"id":"p","scan":{"contentType":"text/x","data":"aGk="}}"#) == "/v1/p [text/x] hi")
    #expect(try scan.send(#"{"id":"p","scan":{"data":"aGk="}}"#) == "/v1/p [application/octet-stream] hi")
    #expect(try scan.send(#"{"id":"p","note":"n"}"#) == "/v1/p?note=n")
    #expect(
      try scan.send(#"{"id":"p","scan":{"contentType":"a\r\nset-cookie: x"}}"#) == "/v1/p [application/octet-stream] ")
    let raw = try Fixture("google.api.HttpBody", HTTPRule(method: "POST", path: "/v1/up", body: "*"))
    #expect(try raw.send(#"{"contentType":"text/x","data":"aGk="}"#) == "/v1/up [text/x] hi")
  }

  @Test("a PATCH sends what its mask names: what is set, null for what is cleared, nothing else")
  func masks() throws {
    let fixture = try Fixture("p.UpdateReq", HTTPRule(method: "PATCH", path: "/v1/{parcel.id}", body: "parcel"))
    func send(_ parcel: String, _ mask: String) throws -> String {
      try fixture.send("{\"parcel\":\(parcel),\"updateMask\":\"\(mask)\"}")
    }
    let parcel =
      #"{"id":"p","trackingNo":"t","weightG":"5","tags":["a"],"to":{"street":"s","city":"c","geo":{"lat":1}},"fragile":true}"#
    #expect(try send(parcel, "trackingNo") == #"/v1/p?updateMask=trackingNo [application/json] {"trackingNo":"t"}"#)
    #expect(
      try send(parcel, "to.city,tags,to.geo")
        == #"/v1/p?updateMask=to.city%2Ctags%2Cto.geo [application/json] {"tags":["a"],"to":{"city":"c","geo":{"lat":1}}}"#
    )
    // Cleared: null where absence counts, the default where it does not.
    #expect(
      try send(#"{"id":"p"}"#, "trackingNo,weightG,tags,labels,to,size,fragile,seal").hasSuffix(
        #" {"trackingNo":"","weightG":"0","size":"SIZE_UNSPECIFIED","tags":[],"labels":{},"to":null,"fragile":false,"seal":""}"#
      ))
    #expect(try send(#"{"id":"p"}"#, "to.geo.lat,to.floor").hasSuffix(#" {"to":{"geo":{"lat":0},"floor":null}}"#))
    #expect(
      try send(#"{"id":"p","to":{"unit":"u","street":"s"}}"#, "to.unit,to.floor").hasSuffix(
        #" {"to":{"unit":"u","floor":null}}"#))
    // A path inside one that is named whole adds nothing, and what the URL has stays there.
    #expect(try send(parcel, "to,to.city,id").hasSuffix(#" {"to":{"street":"s","city":"c","geo":{"lat":1}}}"#))
    #expect(try send(parcel, "to.city,to").hasSuffix(#" {"to":{"street":"s","city":"c","geo":{"lat":1}}}"#))
    // Without a mask, and with one that names no fields, the body is whole.
    let whole = #" {"trackingNo":"t","to":{"city":"c"}}"#
    for mask in ["", ",\"updateMask\":\"\"", ",\"updateMask\":\"nope\"", ",\"updateMask\":\"tags.x\""] {
      #expect(
        try fixture.send(#"{"parcel":{"id":"p","trackingNo":"t","to":{"city":"c"}}"# + mask + "}").hasSuffix(whole),
        "\(mask)")
    }
    // A body in two parts, and a mask in two parts, are one each.
    let split: [UInt8] = [
      0x0A, 3, 0x0A, 1, 0x70, 0x12, 13, 0x0A, 11, 0x74, 0x72, 0x61, 0x63, 0x6B, 0x69, 0x6E, 0x67, 0x5F, 0x6E, 0x6F,
      0x0A, 3, 0x12, 1, 0x74, 0x12, 6, 0x0A, 4, 0x74, 0x61, 0x67, 0x73,
    ]
    #expect(
      fixture.send(wire: split)
        == #"/v1/p?updateMask=trackingNo%2Ctags [application/json] {"trackingNo":"t","tags":[]}"#)
    for length in 0..<split.count {
      let answer = fixture.send(wire: Array(split.prefix(length)))
      #expect(answer.hasPrefix("/v1/p") || answer.hasPrefix("400 invalid_argument"), "\(answer)")
    }
    let put = try Fixture("p.UpdateReq", HTTPRule(method: "PUT", path: "/v1/{parcel.id}", body: "parcel"))
    #expect(
      try put.send(#"{"parcel":{"id":"p","trackingNo":"t"},"updateMask":"tags"}"#)
        == #"/v1/p?updateMask=tags [application/json] {"trackingNo":"t"}"#)
  }

  @Test("a PATCH there and back again has the mask that it had")
  func maskRoundTrip() throws {
    let fixture = try Fixture("p.UpdateReq", HTTPRule(method: "PATCH", path: "/v1/{parcel.id}", body: "parcel"))
    let wire = try fixture.wire(
      #"{"parcel":{"id":"p","tags":["a"],"size":"SIZE_L"},"updateMask":"to.city,tags"}"#, "p.UpdateReq")
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    try fixture.binding.encodeRequest(wire.span, target: &target, body: &body, contentType: &type)
    // A backend that has no such parameter fills the mask from the body, by which it is the same.
    let path = String(repairing: target.span).split(separator: "?")[0]
    #expect(
      try fixture.receive(String(path), body: String(repairing: body.span), contentType: type)
        == #"{"parcel":{"tags":["a"],"to":{},"id":"p"},"updateMask":"tags,to.city"}"#)
  }

  @Test("there and back again")
  func roundTrip() throws {
    let fixture = try Fixture(
      "p.ListReq", HTTPRule(method: "POST", path: "/v1/{to.city}/{note=a/*/**}:v", body: "route"))
    let json =
      #"{"tag":["x/y","+"],"only":"SIZE_S","note":"a/b%2Fc/d e","to":{"street":"&","city":"ø/ö"},"floor":3,"route":[{"lat":1}]}"#
    let wire = try fixture.wire(json, "p.ListReq")
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    try fixture.binding.encodeRequest(wire.span, target: &target, body: &body, contentType: &type)
    let back = try fixture.receive(
      String(repairing: target.span), body: String(repairing: body.span), contentType: type)
    #expect(back == json)
  }
}
