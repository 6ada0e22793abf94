import ProtobufSchema
import REST
import Testing

@Suite("Compiling rules")
struct CompilingTests {
  @Test(
    "rules that do not fit their method",
    arguments: [
      ("GET", "/v1/{id", nil, nil, 8, "no closing"),
      ("GET", "/v1/{idd}", nil, nil, 6, "no field idd; did you mean id?"),
      ("GET", "/v1/{reason.x}", nil, nil, 6, "no singular message"),
      ("GET", "/v1/{secret}", nil, nil, 6, "cannot be part of a path"),
      ("GET", "/v1/{secret.tags}", nil, nil, 6, "cannot be part of a path"),
      ("GET", "/v1/{secret.labels}", nil, nil, 6, "cannot be part of a path"),
      ("GET", "/v1/{secret.nope}", nil, nil, 6, "p.Parcel has no field nope"),
      ("GE T", "/v1/x", nil, nil, nil, "no HTTP method"),
      ("", "/v1/x", nil, nil, nil, "no HTTP method"),
      ("POST", "/v1/{id}", "id", nil, 6, "bound in the path already"),
      ("POST", "/v1/x", "nope", nil, nil, "body: p.CancelReq has no field nope"),
      ("POST", "/v1/x", "secret.id", nil, nil, "no top-level field"),
      ("POST", "/v1/x", nil, "reason", nil, "response_body: p.Parcel has no field reason"),
    ] as [(String, String, String?, String?, Int?, String)])
  func faults(method: String, path: String, body: String?, response: String?, column: Int?, part: String) throws {
    let rule = HTTPRule(method: method, path: path, body: body, responseBody: response)
    let error = #expect(throws: BindingError.self) { try Fixture("p.CancelReq", rule) }
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    #expect(error?.column == column)
  }

  @Test("two variables of one oneof are refused")
  func oneof() throws {
    let rule = HTTPRule(method: "GET", path: "/v1/{card}/{cash}")
    let error = #expect(throws: BindingError.self) { try Fixture("p.ListReq", rule) }
    #expect(error?.column == 13)
    #expect(error?.message.contains("one oneof") == true)
  }

  @Test("types with a text form can be in the path")
  func textual() throws {
    for path in ["/{at}", "/{n}", "/{size}", "/{o}"] {
      let fixture = try Fixture("p.AtReq", HTTPRule(method: "GET", path: path))
      #expect(fixture.binding.template.text == path)
      #expect(fixture.binding.httpMethod == "GET")
    }
  }

  @Test("what has no reverse says so")
  func reverse() throws {
    let any = try Fixture("p.GetReq", HTTPRule(method: "*", path: "/v1/{id}"))
    #expect(any.binding.reverseFault?.contains("any HTTP method") == true)
    let open = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/*/{id}"))
    #expect(open.binding.reverseFault?.contains("no variable") == true)
    let stream = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"), streams: true)
    #expect(stream.binding.reverseFault == nil)
    let told = try Fixture("p.CreateReq", HTTPRule(method: "POST", path: "/v1", body: "*"), clientStreams: true)
    #expect(told.binding.reverseFault?.contains("streams from the client") == true)
    let upload = try Fixture("p.ScanReq", HTTPRule(method: "POST", path: "/v1/{id}", body: "scan"), clientStreams: true)
    #expect(upload.binding.reverseFault == nil)
    let both = try Fixture(
      "p.ScanReq", HTTPRule(method: "POST", path: "/v1/{id}", body: "scan"), streams: true, clientStreams: true)
    #expect(both.binding.reverseFault?.contains("streams both ways") == true)
    let good = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"))
    #expect(good.binding.reverseFault == nil)
    #expect(any.send(wire: []).contains("501 unimplemented"))
  }

  @Test("fields that no query can hold are listed")
  func unsendable() throws {
    let list = try Fixture("p.ListReq", HTTPRule(method: "GET", path: "/v1/x"))
    #expect(list.binding.unsendableFields == ["route", "labels", "any"])
    #expect(list.binding.reverseFault == nil)
    let whole = try Fixture("p.ListReq", HTTPRule(method: "POST", path: "/v1/x", body: "*"))
    #expect(whole.binding.unsendableFields == [])
    let part = try Fixture("p.ListReq", HTTPRule(method: "POST", path: "/v1/x", body: "route"))
    #expect(part.binding.unsendableFields == ["labels", "any"])
  }
}
