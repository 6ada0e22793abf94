import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Protobuf answers, and requests to REST backends")
struct ProtobufAnswerTests {
  let get = HTTPRule(method: "GET", path: "/v1/{id}")

  func field(_ name: String) throws -> Fixture {
    try Fixture("p.GetReq", "p.TagsMsg", HTTPRule(method: "GET", path: "/v1/{id}", responseBody: name))
  }

  func answer(_ fixture: Fixture, _ wire: [UInt8]) throws -> (type: String, body: [UInt8]) {
    var body = ByteBuffer()
    let type = try fixture.binding.encodeResponse(
      wire.span, envelope: "data", as: .protobuf(.google), into: &body)
    return (type, body.bytes)
  }

  func read(
    _ fixture: Fixture, _ body: [UInt8], _ message: String, status: Int = 200, type: String = "application/x-protobuf"
  ) throws -> String {
    var wire = ByteBuffer()
    var unknown: [String] = []
    let media = Array(type.utf8)
    do throws(RPCError) {
      try fixture.binding.decodeResponse(
        status: status, contentType: media.span, body: body.span, envelope: "data", unknown: &unknown, into: &wire)
    } catch {
      return "\(error.short) | \(error.logDetail)"
    }
    return try fixture.json(wire.span, message)
  }

  @Test("messages byte for byte, without the envelope of the JSON; a field's message alone")
  func writing() throws {
    let whole = try Fixture("p.GetReq", get)
    let parcel = try whole.wire(#"{"id":"p","tags":["a"]}"#, "p.Parcel")
    #expect(try answer(whole, parcel) == ("application/vnd.google.protobuf", parcel))
    let inField = try field("parcel")
    let tags = try inField.wire(#"{"id":"t","parcel":{"id":"p","tags":["a"]},"n":1}"#, "p.TagsMsg")
    #expect(try answer(inField, tags).body == parcel)
    #expect(try answer(inField, []).body == [])
    // A message in two parts is their sum.
    #expect(
      try answer(inField, [0x22, 3, 0x0A, 1, 0x70, 0x28, 1, 0x22, 3, 0x12, 1, 0x71]).body == [
        0x0A, 1, 0x70, 0x12, 1, 0x71,
      ])
    #expect(throws: RPCError.self) { try answer(inField, [0x22, 9]) }
  }

  @Test("which answers have a protobuf form")
  func forms() throws {
    #expect(try Fixture("p.GetReq", get).binding.hasProtobufAnswer)
    #expect(try field("parcel").binding.hasProtobufAnswer)
    for name in ["tags", "labels", "n"] { #expect(try !field(name).binding.hasProtobufAnswer, "\(name)") }
    let raw = try Fixture("p.GetReq", "google.api.HttpBody", get).binding
    #expect(!raw.hasProtobufAnswer && raw.answersRaw)
  }

  @Test("answers of a REST backend")
  func reading() throws {
    let whole = try Fixture("p.GetReq", get)
    let parcel = try whole.wire(#"{"id":"p","tags":["a"]}"#, "p.Parcel")
    let json = #"{"id":"p","tags":["a"]}"#
    #expect(try read(whole, parcel, "p.Parcel") == json)
    #expect(try read(whole, parcel, "p.Parcel", status: 201, type: "application/protobuf; x=y") == json)
    #expect(try read(whole, [], "p.Parcel") == "{}")
    #expect(try read(whole, [0xFF], "p.Parcel", status: 204) == "{}")
    #expect(
      try read(whole, [0x0A, 1, 0xFF], "p.Parcel")
        == "500 internal the backend's answer does not fit its type | id: a string in UTF-8 expected (at byte 2)")
    #expect(try read(try field("parcel"), parcel, "p.TagsMsg") == "{\"parcel\":\(json)}")
    #expect(try read(try field("parcel"), [], "p.TagsMsg") == #"{"parcel":{}}"#)
    #expect(try read(try field("tags"), parcel, "p.TagsMsg").hasPrefix("500 internal"))
  }

  // MARK: Towards REST

  func send(_ fixture: Fixture, _ json: String) throws -> (line: String, body: [UInt8]) {
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    let wire = try fixture.wire(json, fixture.input)
    try fixture.binding.encodeRequest(
      wire.span, as: .protobuf, target: &target, body: &body, contentType: &type)
    return ("\(String(repairing: target.span)) \(type ?? "-")", body.bytes)
  }

  @Test("a whole body without what the path holds")
  func sendingWhole() throws {
    let fixture = try Fixture("p.CancelReq", HTTPRule(method: "POST", path: "/v1/{id}/{secret.to.city}", body: "*"))
    let (line, body) = try send(
      fixture, #"{"id":"i","reason":"r","secret":{"id":"s","to":{"street":"t","city":"c"}}}"#)
    #expect(line == "/v1/i/c application/x-protobuf")
    #expect(try fixture.json(body.span, "p.CancelReq") == #"{"reason":"r","secret":{"id":"s","to":{"street":"t"}}}"#)
    let all = try Fixture("p.CancelReq", HTTPRule(method: "POST", path: "/v1/all", body: "*"))
    #expect(try send(all, "{}") == ("/v1/all application/x-protobuf", []))
  }

  @Test("a field as body: set, set and empty, unset; the rest is in the query")
  func sendingField() throws {
    let fixture = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1/{depot}", body: "parcel"))
    let parcel = try fixture.wire(#"{"id":"x"}"#, "p.Parcel")
    #expect(
      try send(fixture, #"{"depot":"d","parcel":{"id":"x"},"dryRun":true}"#)
        == ("/v1/d?dryRun=true application/x-protobuf", parcel))
    #expect(try send(fixture, #"{"depot":"d","parcel":{}}"#) == ("/v1/d application/x-protobuf", []))
    #expect(try send(fixture, #"{"depot":"d"}"#) == ("/v1/d -", []))
    let bound = try Fixture("p.CreateReq", HTTPRule(method: "PUT", path: "/v1/{parcel.id}", body: "parcel"))
    #expect(
      try send(bound, #"{"parcel":{"id":"x","trackingNo":"t"}}"#)
        == ("/v1/x application/x-protobuf", try fixture.wire(#"{"trackingNo":"t"}"#, "p.Parcel")))
  }

  @Test("what has no protobuf form goes as JSON")
  func sendingJSON() throws {
    let tags = try Fixture("p.TagsMsg", HTTPRule(method: "PUT", path: "/v1/{id}", body: "tags"))
    #expect(try send(tags, #"{"id":"p","tags":["a"]}"#) == ("/v1/p application/json", Array(#"["a"]"#.utf8)))
  }

  @Test("a message that is none is not sent")
  func malformed() throws {
    let fixture = try Fixture("p.CancelReq", HTTPRule(method: "POST", path: "/v1/{id}", body: "*"))
    var target = ByteBuffer()
    var body = ByteBuffer()
    var type: String?
    let error = #expect(throws: RPCError.self) {
      try fixture.binding.encodeRequest(
        ([0x0A, 1, 0x61, 0x12, 1, 0xFF] as [UInt8]).span, as: .protobuf, target: &target, body: &body,
        contentType: &type)
    }
    #expect(error?.short == "400 invalid_argument reason: a string in UTF-8 expected")
  }

  // MARK: Errors

  @Test("errors come back as they went")
  func errors() throws {
    let fixture = try Fixture("p.GetReq", get)
    let detail = ErrorDetail.badRequest([(field: "id", description: "taken")])
    for error in [
      RPCError(.alreadyExists, "é is taken", details: [detail, ErrorDetail(typeName: "x.Unknown", value: [])]),
      RPCError(.unknown, "u"),
    ] {
      var body = ByteBuffer()
      RESTErrors.writeProtobuf(error, into: &body)
      let type = Array("application/protobuf".utf8)
      let read = RESTErrors.read(status: 409, contentType: type.span, body: body.span, codec: fixture.codec)
      #expect((read.code, read.message) == (error.code, error.message))
      #expect(read.details == error.details)
    }
  }

  @Test(
    "what is no Status is told by the HTTP status",
    arguments: [
      [], [0xFF], [0x08, 0], [0x08, 17], [0x08, 0x85, 0x80, 0x80, 0x80, 0x10], [0x08, 5, 0x12, 9], Array("{}".utf8),
      [0x12, 1, 0x61],
    ] as [[UInt8]])
  func noErrors(body: [UInt8]) throws {
    let fixture = try Fixture("p.GetReq", get)
    let type = Array("application/x-protobuf".utf8)
    let read = RESTErrors.read(status: 404, contentType: type.span, body: body.span, codec: fixture.codec)
    #expect((read.code, read.message) == (.notFound, "HTTP status 404"))
  }
}
