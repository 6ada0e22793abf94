import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Form bodies")
struct FormTests {
  let settings = BindingSettings(bodyTypes: [.json, .form])
  let type = "application/x-www-form-urlencoded; charset=UTF-8"

  func receive(_ fixture: Fixture, _ target: String, _ body: String) throws -> String {
    try fixture.receive(target, body: body, contentType: type)
  }

  @Test("the whole message: fields, nested ones, lists, escapes")
  func whole() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "POST", path: "/v1/{note}", body: "*"), settings: settings)
    #expect(
      try receive(fixture, "/v1/n", "tag=a&tag=b+c&pageSize=7&to.city=%C3%A9&to.geo.lat=1.5&only=SIZE_L")
        == #"{"tag":["a","b c"],"only":"SIZE_L","note":"n","pageSize":7,"to":{"city":"é","geo":{"lat":1.5}}}"#)
    #expect(
      try receive(fixture, "/v1/n", "page_size=7&&since=2024-01-01T00:00:00Z")
        == #"{"note":"n","pageSize":7,"since":"2024-01-01T00:00:00Z"}"#)
    #expect(try receive(fixture, "/v1/n", "") == #"{"note":"n"}"#)
    #expect(try receive(fixture, "/v1/n", "note=n&only=1") == #"{"only":"SIZE_S","note":"n"}"#)
  }

  @Test(
    "what does not fit is refused by its name",
    arguments: [
      ("note=m", "note: contradicts note in the path"), ("pageSize=1&pageSize=2", "pageSize: given twice"),
      ("pageSize=many", "pageSize: "), ("colour=red", "colour: unknown form parameter"),
      ("card=x&cash=1", "cash: cannot be set beside card"), ("labels=x", "labels: a map cannot come from a form"),
      ("route=x", "route: a repeated message cannot come from a form"),
      ("to=x", "to: a message cannot come from a form, only its fields can"), ("tag=%F", "tag: a malformed escape"),
      ("%F=x", "%F: a malformed escape in the name of a form parameter"), ("tag=%FF", "tag: "),
    ])
  func refused(body: String, says: String) throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "POST", path: "/v1/{note}", body: "*"), settings: settings)
    let answer = try receive(fixture, "/v1/n", body)
    #expect(answer.hasPrefix("400 invalid_argument \(says)"), "\(answer)")
  }

  @Test("a field's message, beside path and query")
  func field() throws {
    let create = HTTPRule(method: "POST", path: "/v1/{depot}", body: "parcel")
    let fixture = try Fixture("p.CreateReq", create, settings: settings)
    #expect(
      try receive(fixture, "/v1/d?dryRun=true", "id=x&to.city=c")
        == #"{"depot":"d","parcel":{"id":"x","to":{"city":"c"}},"dryRun":true}"#)
    #expect(try receive(fixture, "/v1/d", "parcel.id=x").hasPrefix("400 invalid_argument parcel.id: unknown form"))
    #expect(try receive(fixture, "/v1/d", "depot=e").hasPrefix("400 invalid_argument depot: unknown form"))
    #expect(try receive(fixture, "/v1/d?other=o", "id=x").contains("only one of them can"))
    #expect(try receive(fixture, "/v1/d", "") == #"{"depot":"d"}"#)
    let bound = try Fixture(
      "p.CreateReq", HTTPRule(method: "PUT", path: "/v1/{parcel.id}", body: "parcel"), settings: settings)
    #expect(try receive(bound, "/v1/p", "trackingNo=t&id=p") == #"{"parcel":{"id":"p","trackingNo":"t"}}"#)
    #expect(try receive(bound, "/v1/p", "id=q") == "400 invalid_argument id: contradicts parcel.id in the path")
  }

  @Test("PATCH fills the mask with what the form names")
  func masks() throws {
    let fixture = try Fixture(
      "p.UpdateReq", HTTPRule(method: "PATCH", path: "/v1/{parcel.id}", body: "parcel"), settings: settings)
    #expect(
      try receive(fixture, "/v1/p", "tags=a&tags=b&to.city=&tracking_no=t")
        == #"{"parcel":{"id":"p","trackingNo":"t","tags":["a","b"],"to":{}},"updateMask":"tags,to.city,trackingNo"}"#)
    #expect(
      try receive(fixture, "/v1/p?updateMask=size", "trackingNo=t")
        == #"{"parcel":{"id":"p","trackingNo":"t"},"updateMask":"size"}"#)
  }

  @Test("only where a route allows it, and where the body has fields")
  func allowed() throws {
    let cancel = HTTPRule(method: "POST", path: "/v1/{id}", body: "*")
    #expect(
      try receive(try Fixture("p.CancelReq", cancel), "/v1/p", "reason=r")
        == "415 invalid_argument this route reads application/json, application/x-protobuf")
    let all = BindingSettings(bodyTypes: BodyType.allCases)
    #expect(
      try receive(try Fixture("p.CancelReq", cancel, settings: all), "/v1/p", "reason=r")
        == #"{"id":"p","reason":"r"}"#)
    let tags = HTTPRule(method: "PUT", path: "/v1/{id}", body: "tags")
    #expect(
      try receive(try Fixture("p.TagsMsg", tags, settings: all), "/v1/p", "tags=a")
        == "415 invalid_argument this route reads application/json")
    let raw = try Fixture("google.api.HttpBody", HTTPRule(method: "POST", path: "/v1/up", body: "*"), settings: all)
    #expect(try receive(raw, "/v1/up", "a=b").contains(#""data":"YT1i""#))
    let get = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"), settings: all)
    #expect(try receive(get, "/v1/p", "view=x") == "400 invalid_argument this route takes no body")
  }

  @Test("unknown names are treated as those of the query")
  func unknown() throws {
    let cancel = HTTPRule(method: "POST", path: "/v1/{id}", body: "*")
    var lenient = settings
    lenient.ignoredQuery = ["utm_*"]
    #expect(
      try receive(try Fixture("p.CancelReq", cancel, settings: lenient), "/v1/p", "utm_x=1&reason=r")
        == #"{"id":"p","reason":"r"}"#)
    lenient.ignoresUnknownQuery = true
    #expect(
      try receive(try Fixture("p.CancelReq", cancel, settings: lenient), "/v1/p", "x=1&reason=r")
        == #"{"id":"p","reason":"r"}"#)
  }

  @Test("a form of very many parameters is refused")
  func many() throws {
    let fixture = try Fixture("p.ListReq", HTTPRule(method: "POST", path: "/v1/{note}", body: "*"), settings: settings)
    let some = try receive(fixture, "/v1/n", String(repeating: "tag=a&", count: 10_000))
    #expect(some.hasPrefix(#"{"tag":["a","#))
    #expect(
      try receive(fixture, "/v1/n", String(repeating: "tag=a&", count: 10_001))
        == "400 invalid_argument a form has at most 10000 parameters")
  }
}
