import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Responses")
struct ResponseTests {
  func answer(_ fixture: Fixture, _ json: String, _ message: String, envelope: String? = nil) throws -> String {
    let wire = try fixture.wire(json, message)
    var body = ByteBuffer()
    let type = try fixture.binding.encodeResponse(wire.span, envelope: envelope, into: &body)
    return "[\(type)] \(String(repairing: body.span))"
  }

  func read(
    _ fixture: Fixture, _ body: String, _ message: String, status: Int = 200, type: String? = "application/json",
    envelope: String? = nil
  ) throws -> String {
    var wire = ByteBuffer()
    var unknown: [String] = []
    let content = Array(body.utf8)
    do throws(RPCError) {
      if let type {
        let media = Array(type.utf8)
        try fixture.binding.decodeResponse(
          status: status, contentType: media.span, body: content.span, envelope: envelope, unknown: &unknown,
          into: &wire)
      } else {
        try fixture.binding.decodeResponse(
          status: status, contentType: nil, body: content.span, envelope: envelope, unknown: &unknown, into: &wire)
      }
    } catch {
      return "\(error.short) | \(error.logDetail)"
    }
    return try fixture.json(wire.span, message)
  }

  let get = HTTPRule(method: "GET", path: "/v1/{id}")

  func tags(_ field: String) throws -> Fixture {
    try Fixture("p.GetReq", "p.TagsMsg", HTTPRule(method: "GET", path: "/v1/{id}", responseBody: field))
  }

  @Test("whole messages, one field, and the envelope around them")
  func writing() throws {
    let whole = try Fixture("p.GetReq", get)
    #expect(try answer(whole, #"{"id":"p"}"#, "p.Parcel") == #"[application/json] {"id":"p"}"#)
    #expect(
      try answer(whole, #"{"id":"p"}"#, "p.Parcel", envelope: "da\"ta") == #"[application/json] {"da\"ta":{"id":"p"}}"#)
    #expect(try answer(tags("tags"), #"{"id":"p"}"#, "p.TagsMsg") == "[application/json] []")
    #expect(
      try answer(tags("tags"), #"{"tags":["a"]}"#, "p.TagsMsg", envelope: "data")
        == #"[application/json] {"data":["a"]}"#)
    #expect(try answer(tags("labels"), "{}", "p.TagsMsg") == "[application/json] {}")
    #expect(try answer(tags("parcel"), "{}", "p.TagsMsg") == "[application/json] {}")
    #expect(try answer(tags("n"), #"{"n":3}"#, "p.TagsMsg") == "[application/json] 3")
  }

  @Test("raw answers, whole or in a field; a type that may stand in no header is not sent")
  func rawWriting() throws {
    let whole = try Fixture("p.GetReq", "google.api.HttpBody", get)
    let pdf = #"{"contentType":"application/pdf","data":"aGk="}"#
    #expect(try answer(whole, pdf, "google.api.HttpBody", envelope: "data") == "[application/pdf] hi")
    #expect(try answer(whole, #"{"data":"aGk="}"#, "google.api.HttpBody") == "[application/octet-stream] hi")
    #expect(try answer(whole, #"{"contentType":"a\nb: c"}"#, "google.api.HttpBody") == "[application/octet-stream] ")
    let field = try Fixture(
      "p.GetReq", "p.ScanReq", HTTPRule(method: "GET", path: "/v1/{id}", responseBody: "scan"))
    #expect(try answer(field, "{\"scan\":\(pdf)}", "p.ScanReq") == "[application/pdf] hi")
    #expect(try answer(field, "{}", "p.ScanReq") == "[application/octet-stream] ")
  }

  @Test("broken wire bytes are the backend's fault")
  func brokenWire() throws {
    for message in ["p.Parcel", "google.api.HttpBody"] {
      let fixture = try Fixture("p.GetReq", message, get)
      var body = ByteBuffer()
      let error = #expect(throws: RPCError.self) {
        try fixture.binding.encodeResponse(([0x0A, 9] as [UInt8]).span, envelope: nil, into: &body)
      }
      #expect(error?.code == .internal)
    }
  }

  @Test("answers of a REST backend")
  func reading() throws {
    let whole = try Fixture("p.GetReq", get)
    #expect(
      try read(whole, #"{"id":"p","weightG":"9007199254740993"}"#, "p.Parcel")
        == #"{"id":"p","weightG":"9007199254740993"}"#)
    #expect(try read(whole, #"{"id":"p"}"#, "p.Parcel", status: 201, type: nil) == #"{"id":"p"}"#)
    #expect(try read(whole, "", "p.Parcel", status: 204, type: nil) == "{}")
    #expect(try read(whole, "", "p.Parcel", type: "text/html") == "{}")
    #expect(try read(whole, "ignored", "p.Parcel", status: 204, type: "text/html") == "{}")
    #expect(
      try read(whole, "<html>", "p.Parcel", type: "text/html").hasPrefix(
        "500 internal the backend's answer is neither JSON nor protobuf |"))
    #expect(try read(whole, "[1]", "p.Parcel").hasPrefix("500 internal the backend's answer does not fit its type |"))
    #expect(try read(whole, #"{"id":5}"#, "p.Parcel").contains("| id: "))
    #expect(try read(tags("tags"), #"["x","y"]"#, "p.TagsMsg") == #"{"tags":["x","y"]}"#)
    #expect(try read(tags("n"), "7", "p.TagsMsg") == #"{"n":7}"#)
    let raw = try Fixture("p.GetReq", "google.api.HttpBody", get)
    #expect(
      try read(raw, "<p>", "google.api.HttpBody", type: "text/html", envelope: "data")
        == #"{"contentType":"text/html","data":"PHA+"}"#)
    #expect(try read(raw, "", "google.api.HttpBody", status: 204) == "{}")
    let field = try Fixture(
      "p.GetReq", "p.ScanReq", HTTPRule(method: "GET", path: "/v1/{id}", responseBody: "scan"))
    #expect(try read(field, "hi", "p.ScanReq", type: "text/x") == #"{"scan":{"contentType":"text/x","data":"aGk="}}"#)
    #expect(try read(field, "hi", "p.ScanReq", status: 204) == "{}")
  }

  @Test(
    "the envelope is taken off",
    arguments: [
      (#"{"data":{"id":"p"}}"#, #"{"id":"p"}"#), (#" { "data" : {"id":"p"} , "meta":{"a":[1,"}"]}} "#, #"{"id":"p"}"#),
      (#"{"n":1,"s":"a\"}","data":{"id":"p"}}"#, #"{"id":"p"}"#), (#"{"d\u0061ta":{"id":"p"}}"#, #"{"id":"p"}"#),
      (#"{"data":null}"#, "{}"), (#"{"data":{}}"#, "{}"), ("", "{}"),
      (#"{"x":{"data":{"id":"p"}}}"#, "500 internal the backend's answer lacks its envelope"),
      ("{}", "500 internal the backend's answer lacks"),
      (#"{"data":{},"data":{}}"#, "500 internal the backend's answer is no JSON object"),
      (#"[{"data":{}}]"#, "500 internal"), (#"{"data":{"id":"p"}"#, "500 internal"),
      (#"{"data":{}} x"#, "500 internal"),
      (#"{"data":}"#, "500 internal"), (#"{"data":{"id":}}"#, "500 internal"), (#"{data:{}}"#, "500 internal"),
      (#"{"data":5}"#, "500 internal the backend's answer does not fit"), (#"{"data":{},}"#, "500 internal"),
      ("{", "500 internal"),
    ])
  func envelope(body: String, expected: String) throws {
    let answer = try read(try Fixture("p.GetReq", get), body, "p.Parcel", envelope: "data")
    #expect(answer.hasPrefix(expected), "\(answer)")
  }

  @Test("an envelope cut anywhere is never read as whole")
  func cuts() throws {
    let fixture = try Fixture("p.GetReq", get)
    let body = #"{"m":["\\",{"a":"\""}],"data":{"id":"p","tags":["a"]},"x":true}"#
    for length in 1..<body.count {
      #expect(try read(fixture, String(body.prefix(length)), "p.Parcel", envelope: "data").hasPrefix("500"))
    }
    #expect(try read(fixture, body, "p.Parcel", envelope: "data") == #"{"id":"p","tags":["a"]}"#)
  }

  @Test("unknown members of an answer: a fault, or dropped and reported")
  func unknownMembers() throws {
    let body = #"{"id":"p","legacy":{"x":1}}"#
    #expect(try read(try Fixture("p.GetReq", get), body, "p.Parcel").hasPrefix("500 internal"))
    var profile = JSONProfile.standard
    profile.unknownFields = .report
    let lenient = try Fixture("p.GetReq", get, profile: profile)
    var wire = ByteBuffer()
    var unknown: [String] = []
    try lenient.binding.decodeResponse(
      status: 200, contentType: nil, body: Array(body.utf8).span, envelope: nil, unknown: &unknown, into: &wire)
    #expect(unknown == ["legacy"])
    #expect(try lenient.json(wire.span, "p.Parcel") == #"{"id":"p"}"#)
  }
}
