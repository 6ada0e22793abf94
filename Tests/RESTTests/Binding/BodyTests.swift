import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Request bodies")
struct BodyTests {
  let cancel = HTTPRule(method: "POST", path: "/v1/{id}:cancel", body: "*")
  let create = HTTPRule(method: "POST", path: "/v1/{depot}", body: "parcel")
  let json = "application/json"

  @Test("a whole body: with the path's value, equal to it, contradicting it, empty")
  func whole() throws {
    let fixture = try Fixture("p.CancelReq", cancel)
    let expected = #"{"reason":"r","id":"p1"}"#
    #expect(try fixture.receive("/v1/p1:cancel", body: #"{"reason":"r"}"#, contentType: json) == expected)
    #expect(try fixture.receive("/v1/p1:cancel", body: #"{"reason":"r","id":"p1"}"#) == expected)
    #expect(try fixture.receive("/v1/p1:cancel", body: #"{"id":"p2"}"#).hasPrefix("400 invalid_argument id: "))
    #expect(try fixture.receive("/v1/p1:cancel") == #"{"id":"p1"}"#)
    #expect(try fixture.receive("/v1/p1:cancel", contentType: json) == #"{"id":"p1"}"#)
    #expect(try fixture.receive("/v1/p1:cancel", body: "null").hasPrefix("400 invalid_argument"))
    #expect(try fixture.receive("/v1/p1:cancel", body: #"{"reason":5}"#).hasPrefix("400 invalid_argument reason: "))
    #expect(try fixture.receive("/v1/p1:cancel", body: #"{"reason":"#).hasPrefix("400 invalid_argument"))
  }

  @Test("media types: JSON in any spelling, none; anything else is 415")
  func mediaTypes() throws {
    let fixture = try Fixture("p.CancelReq", cancel)
    for type in ["Application/JSON; Charset=\"utf-8\"", "application/merge-patch+json", "application/json"] {
      #expect(try fixture.receive("/v1/p:cancel", body: "{}", contentType: type) == #"{"id":"p"}"#)
    }
    for type in ["application/x-www-form-urlencoded", "text/plain", "application/proto", ""] {
      let answer = try fixture.receive("/v1/p:cancel", body: "reason=x", contentType: type)
      #expect(answer == "415 invalid_argument this route reads application/json, application/x-protobuf", "\(type)")
    }
    #expect(try fixture.receive("/v1/p:cancel", contentType: "text/plain") == #"{"id":"p"}"#)
    var unknown: [String] = []
    var wire = ByteBuffer()
    let error = #expect(throws: RPCError.self) {
      try fixture.receive("/v1/p:cancel", [1], "image/png", &unknown, into: &wire)
    }
    #expect(error?.headers.first?.name == "accept-post")
    #expect(error?.headers.first?.value == "application/json, application/x-protobuf")
  }

  @Test("a body on a rule without one")
  func none() throws {
    let fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    #expect(
      try fixture.receive("/v1/p", body: "{}", contentType: json) == "400 invalid_argument this route takes no body")
    #expect(try fixture.receive("/v1/p", contentType: json) == #"{"id":"p"}"#)
  }

  @Test("a field as body: message, repeated, map, scalar; empty leaves it unset")
  func fields() throws {
    let parcel = try Fixture("p.CreateReq", create)
    #expect(try parcel.receive("/v1/d", body: #"{"tags":["a"]}"#) == #"{"depot":"d","parcel":{"tags":["a"]}}"#)
    #expect(try parcel.receive("/v1/d") == #"{"depot":"d"}"#)
    #expect(try parcel.receive("/v1/d", body: "null") == #"{"depot":"d"}"#)
    #expect(try parcel.receive("/v1/d", body: "{}") == #"{"depot":"d","parcel":{}}"#)
    let tags = try Fixture("p.TagsMsg", HTTPRule(method: "PUT", path: "/v1/{id}", body: "tags"))
    #expect(try tags.receive("/v1/p", body: #"["a","b"]"#) == #"{"id":"p","tags":["a","b"]}"#)
    #expect(try tags.receive("/v1/p", body: #"{"tags":["a"]}"#).hasPrefix("400"))
    let labels = try Fixture("p.TagsMsg", HTTPRule(method: "PUT", path: "/v1/{id}", body: "labels"))
    #expect(try labels.receive("/v1/p", body: #"{"k":"v"}"#) == #"{"id":"p","labels":{"k":"v"}}"#)
    let number = try Fixture("p.TagsMsg", HTTPRule(method: "PUT", path: "/v1/{id}", body: "n"))
    #expect(try number.receive("/v1/p", body: "7") == #"{"id":"p","n":7}"#)
    #expect(try number.receive("/v1/p", body: "7 8").hasPrefix("400"))
  }

  @Test("a sibling of the body's oneof in the query")
  func oneof() throws {
    let fixture = try Fixture("p.CreateReq", create)
    #expect(
      try fixture.receive("/v1/d?other=x", body: "{}").hasPrefix(
        "400 invalid_argument other: cannot be set beside parcel"))
    #expect(try fixture.receive("/v1/d?other=x", body: "null") == #"{"depot":"d","other":"x"}"#)
    #expect(try fixture.receive("/v1/d?other=x") == #"{"depot":"d","other":"x"}"#)
  }

  @Test("a path variable inside the body's field is bound there, once")
  func boundInside() throws {
    let rule = HTTPRule(method: "PUT", path: "/v1/{parcel.id}", body: "parcel")
    let fixture = try Fixture("p.CreateReq", rule)
    #expect(try fixture.receive("/v1/p", body: #"{"tags":["a"]}"#) == #"{"parcel":{"tags":["a"],"id":"p"}}"#)
    #expect(try fixture.receive("/v1/p", body: #"{"id":"p"}"#) == #"{"parcel":{"id":"p"}}"#)
    #expect(try fixture.receive("/v1/p", body: #"{"id":"q"}"#).hasPrefix("400 invalid_argument id: "))
    #expect(try fixture.receive("/v1/p") == #"{"parcel":{"id":"p"}}"#)
    #expect(try fixture.receive("/v1/p", body: "null") == #"{"parcel":{"id":"p"}}"#)
    var wire = ByteBuffer()
    var unknown: [String] = []
    try fixture.receive("/v1/p", Array(#"{"trackingNo":"t"}"#.utf8), nil, &unknown, into: &wire)
    #expect(wire.count == 8)
    #expect(wire.bytes.prefix(2) == [0x12, 0x06])
  }

  @Test("a nested variable in a whole body")
  func nested() throws {
    let rule = HTTPRule(method: "POST", path: "/v1/{secret.to.city}", body: "*")
    let fixture = try Fixture("p.CancelReq", rule)
    #expect(try fixture.receive("/v1/c", body: #"{"id":"i"}"#) == #"{"id":"i","secret":{"to":{"city":"c"}}}"#)
    #expect(
      try fixture.receive("/v1/c", body: #"{"secret":{"id":"s","to":{"street":"t"}}}"#)
        == #"{"secret":{"id":"s","to":{"street":"t","city":"c"}}}"#)
  }

  @Test("PATCH fills the mask from the body, unless the client sent one")
  func masks() throws {
    let fixture = try Fixture("p.UpdateReq", HTTPRule(method: "PATCH", path: "/v1/{parcel.id}", body: "parcel"))
    #expect(
      try fixture.receive("/v1/p", body: #"{"to":{"geo":{"lat":1,"lon":2}}}"#)
        == #"{"parcel":{"to":{"geo":{"lat":1,"lon":2}},"id":"p"},"updateMask":"to.geo.lat,to.geo.lon"}"#)
    #expect(
      try fixture.receive("/v1/p", body: #"{"trackingNo":null}"#)
        == #"{"parcel":{"id":"p"},"updateMask":"trackingNo"}"#)
    #expect(
      try fixture.receive("/v1/p?updateMask=size", body: #"{"trackingNo":"t"}"#)
        == #"{"parcel":{"trackingNo":"t","id":"p"},"updateMask":"size"}"#)
    #expect(try fixture.receive("/v1/p") == #"{"parcel":{"id":"p"}}"#)
    let put = try Fixture("p.UpdateReq", HTTPRule(method: "PUT", path: "/v1/{parcel.id}", body: "parcel"))
    #expect(try put.receive("/v1/p", body: #"{"trackingNo":"t"}"#) == #"{"parcel":{"trackingNo":"t","id":"p"}}"#)
  }

  @Test("unknown members: refused by name, or dropped and reported")
  func unknownMembers() throws {
    let strict = try Fixture("p.CancelReq", cancel)
    #expect(try strict.receive("/v1/p:cancel", body: #"{"auth":"x"}"#).hasPrefix("400 invalid_argument auth: "))
    var profile = JSONProfile.standard
    profile.unknownFields = .ignore
    let lenient = try Fixture("p.CancelReq", cancel, profile: profile)
    var unknown: [String] = []
    #expect(
      try lenient.receive("/v1/p:cancel", body: #"{"reason":"r","auth":{"a":1}}"#, unknown: &unknown)
        == #"{"reason":"r","id":"p"}"#)
    #expect(unknown == ["auth"])
  }

  @Test("raw bodies arrive byte for byte with their type")
  func raw() throws {
    let rule = HTTPRule(method: "PUT", path: "/v1/{id}/scan", body: "scan")
    let fixture = try Fixture("p.ScanReq", "google.protobuf.Empty", rule)
    var unknown: [String] = []
    for count in [0, 1, 127, 128, 16_384, 70_000] {
      let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      var wire = ByteBuffer()
      try fixture.receive("/v1/p/scan", data, "image/png", &unknown, into: &wire)
      var base64 = ByteBuffer()
      Base64.encode(data.span, into: &base64)
      let content = count > 0 ? ",\"data\":\"\(String(repairing: base64.span))\"" : ""
      #expect(
        try fixture.json(wire.span, "p.ScanReq") == "{\"id\":\"p\",\"scan\":{\"contentType\":\"image/png\"\(content)}}")
    }
    #expect(try fixture.receive("/v1/p/scan") == #"{"id":"p"}"#)
    #expect(try fixture.receive("/v1/p/scan", body: "x") == #"{"id":"p","scan":{"data":"eA=="}}"#)
    #expect(
      try fixture.receive("/v1/p/scan?note=n", body: "x").hasPrefix(
        "400 invalid_argument note: cannot be set beside scan"))
    let whole = try Fixture("google.api.HttpBody", HTTPRule(method: "POST", path: "/v1/up", body: "*"))
    #expect(
      try whole.receive("/v1/up", body: "x", contentType: "text/plain")
        == #"{"contentType":"text/plain","data":"eA=="}"#)
    #expect(try whole.receive("/v1/up?data=x").hasPrefix("400"))
  }
}
