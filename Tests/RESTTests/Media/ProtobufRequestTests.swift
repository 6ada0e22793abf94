import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Protobuf request bodies")
struct ProtobufRequestTests {
  let cancel = HTTPRule(method: "POST", path: "/v1/{id}:cancel", body: "*")
  let create = HTTPRule(method: "POST", path: "/v1/{depot}", body: "parcel")

  /// A message that the client sends, given as JSON; the request message as JSON, or the refusal.
  func receive(
    _ fixture: Fixture, _ target: String, _ json: String, as message: String, type: String = "application/x-protobuf"
  ) throws -> String {
    try receive(fixture, target, wire: try fixture.wire(json, message), type: type)
  }

  func receive(
    _ fixture: Fixture, _ target: String, wire body: [UInt8], type: String = "application/x-protobuf"
  ) throws -> String {
    var wire = ByteBuffer()
    var unknown: [String] = []
    do throws(RPCError) {
      try fixture.receive(target, body, type, &unknown, into: &wire)
    } catch {
      return error.short
    }
    return try fixture.json(wire.span, fixture.input)
  }

  @Test("a whole body: with the path's value, equal to it, contradicting it, empty")
  func whole() throws {
    let fixture = try Fixture("p.CancelReq", cancel)
    let expected = #"{"id":"p1","reason":"r"}"#
    #expect(
      try receive(fixture, "/v1/p1:cancel", #"{"reason":"r"}"#, as: "p.CancelReq") == #"{"reason":"r","id":"p1"}"#)
    #expect(try receive(fixture, "/v1/p1:cancel", #"{"id":"p1","reason":"r"}"#, as: "p.CancelReq") == expected)
    #expect(
      try receive(fixture, "/v1/p1:cancel", #"{"id":"p2"}"#, as: "p.CancelReq").hasPrefix("400 invalid_argument id: "))
    #expect(try receive(fixture, "/v1/p1:cancel", "{}", as: "p.CancelReq") == #"{"id":"p1"}"#)
  }

  @Test(
    "each name of it, parameters or not",
    arguments: [
      "application/x-protobuf", "application/protobuf", "application/vnd.google.protobuf",
      "Application/X-Protobuf; messageType=p.CancelReq", "application/protobuf;charset=utf-8",
    ])
  func names(type: String) throws {
    let fixture = try Fixture("p.CancelReq", cancel)
    #expect(
      try receive(fixture, "/v1/p:cancel", #"{"reason":"r"}"#, as: "p.CancelReq", type: type)
        == #"{"reason":"r","id":"p"}"#)
  }

  @Test("what is no message is refused with field and byte")
  func malformed() throws {
    let fixture = try Fixture("p.CancelReq", cancel)
    #expect(
      try receive(fixture, "/v1/p:cancel", wire: [0x12, 5, 0x61])
        == "400 invalid_argument reason: the bytes end inside a field (at byte 1 of the body)")
    #expect(
      try receive(fixture, "/v1/p:cancel", wire: [0x12, 1, 0xFF])
        == "400 invalid_argument reason: a string in UTF-8 expected (at byte 2 of the body)")
    #expect(
      try receive(fixture, "/v1/p:cancel", wire: [0x1A, 3, 0x2A, 1, 0x80]).hasPrefix(
        "400 invalid_argument secret.tags[0]: "))
    #expect(
      try receive(fixture, "/v1/p:cancel", wire: Array("reason=x".utf8)).hasPrefix("400 invalid_argument"))
  }

  @Test("a field as body; an empty message is one, for whoever says protobuf")
  func fields() throws {
    let fixture = try Fixture("p.CreateReq", create)
    #expect(
      try receive(fixture, "/v1/d", #"{"tags":["a"]}"#, as: "p.Parcel") == #"{"depot":"d","parcel":{"tags":["a"]}}"#)
    #expect(try receive(fixture, "/v1/d", "{}", as: "p.Parcel") == #"{"depot":"d","parcel":{}}"#)
    #expect(
      try receive(fixture, "/v1/d?dryRun=true", #"{"id":"x"}"#, as: "p.Parcel")
        == #"{"depot":"d","parcel":{"id":"x"},"dryRun":true}"#)
    #expect(
      try receive(fixture, "/v1/d?other=x", "{}", as: "p.Parcel").hasPrefix(
        "400 invalid_argument other: cannot be set beside parcel"))
  }

  @Test("scalars, lists and maps have no protobuf form of their own: JSON only")
  func noMessages() throws {
    for field in ["tags", "labels", "n"] {
      let fixture = try Fixture("p.TagsMsg", HTTPRule(method: "PUT", path: "/v1/{id}", body: field))
      #expect(
        try receive(fixture, "/v1/p", wire: [0x0A, 1, 0x61]) == "415 invalid_argument this route reads application/json"
      )
    }
  }

  @Test("a path variable inside the body's field is bound there")
  func boundInside() throws {
    let fixture = try Fixture("p.CreateReq", HTTPRule(method: "PUT", path: "/v1/{parcel.id}", body: "parcel"))
    #expect(try receive(fixture, "/v1/p", #"{"tags":["a"]}"#, as: "p.Parcel") == #"{"parcel":{"tags":["a"],"id":"p"}}"#)
    #expect(try receive(fixture, "/v1/p", #"{"id":"p"}"#, as: "p.Parcel") == #"{"parcel":{"id":"p"}}"#)
    #expect(try receive(fixture, "/v1/p", #"{"id":"q"}"#, as: "p.Parcel").hasPrefix("400 invalid_argument id: "))
    #expect(try receive(fixture, "/v1/p", "{}", as: "p.Parcel") == #"{"parcel":{"id":"p"}}"#)
    let deep = try Fixture("p.CancelReq", HTTPRule(method: "POST", path: "/v1/{secret.to.unit}", body: "*"))
    #expect(
      try receive(deep, "/v1/u", #"{"secret":{"to":{"street":"s"}}}"#, as: "p.CancelReq")
        == #"{"secret":{"to":{"street":"s","unit":"u"}}}"#)
    #expect(
      try receive(deep, "/v1/u", #"{"secret":{"to":{"floor":1}}}"#, as: "p.CancelReq").hasPrefix(
        "400 invalid_argument secret.to.floor: "))
  }

  @Test("PATCH fills the mask with what the bytes hold")
  func masks() throws {
    let fixture = try Fixture("p.UpdateReq", HTTPRule(method: "PATCH", path: "/v1/{parcel.id}", body: "parcel"))
    #expect(
      try receive(fixture, "/v1/p", #"{"to":{"geo":{"lat":1,"lon":2}},"tags":["a","b"]}"#, as: "p.Parcel").hasSuffix(
        #""updateMask":"to.geo.lat,to.geo.lon,tags"}"#))
    #expect(
      try receive(fixture, "/v1/p?updateMask=size", #"{"trackingNo":"t"}"#, as: "p.Parcel")
        == #"{"parcel":{"trackingNo":"t","id":"p"},"updateMask":"size"}"#)
  }

  @Test("a body on a rule without one, and a route that reads JSON only")
  func refused() throws {
    let get = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    #expect(try receive(get, "/v1/p", wire: [0x0A, 0]) == "400 invalid_argument this route takes no body")
    let plain = try Fixture("p.CancelReq", cancel, settings: BindingSettings(bodyTypes: [.json]))
    #expect(
      try receive(plain, "/v1/p:cancel", wire: [0x0A, 0]) == "415 invalid_argument this route reads application/json")
    let strict = try Fixture("p.CancelReq", cancel, settings: BindingSettings(bodyTypes: [.protobuf]))
    #expect(
      try strict.receive("/v1/p:cancel", body: "{}") == "415 invalid_argument this route reads application/x-protobuf")
  }

  @Test("raw bodies are raw, whatever they say")
  func raw() throws {
    let fixture = try Fixture("google.api.HttpBody", HTTPRule(method: "POST", path: "/v1/up", body: "*"))
    #expect(
      try receive(fixture, "/v1/up", wire: [0xFF])
        == #"{"contentType":"application/x-protobuf","data":"/w=="}"#)
  }

  @Test("a rule whose body has no form that is read is a fault of the configuration")
  func compiling() throws {
    let rule = HTTPRule(method: "PUT", path: "/v1/{id}", body: "tags")
    let error = #expect(throws: BindingError.self) {
      try Fixture("p.TagsMsg", rule, settings: BindingSettings(bodyTypes: [.protobuf, .form]))
    }
    #expect(error?.message == "body: tags can only be JSON, and body_types does not list json")
  }
}
