import Bytes
import REST
import Testing

@Suite("What a caller reads")
struct AcceptedMediaTests {
  func form(_ accept: [String], own: ProtobufMediaType? = nil, hasProtobuf: Bool = true) -> String {
    var accepted = AcceptedMedia()
    for value in accept { accepted.add(Array(value.utf8).span) }
    switch accepted.form(own: own, hasProtobuf: hasProtobuf) {
    case nil: return "406"
    case .json: return "json"
    case .protobuf(let type): return "\(type.text)"
    }
  }

  @Test("without Accept the answer is as the request was")
  func absent() {
    #expect(form([]) == "json")
    #expect(form([""]) == "json")
    #expect(form([" , "], own: .x) == "application/x-protobuf")
    #expect(form([], own: .google) == "application/vnd.google.protobuf")
    #expect(form([], own: .x, hasProtobuf: false) == "json")
  }

  @Test(
    "names, wildcards and weights",
    arguments: [
      ("application/json", "json"), ("*/*", "json"), ("application/*", "json"),
      ("application/x-protobuf", "application/x-protobuf"), ("APPLICATION/Protobuf", "application/protobuf"),
      ("application/vnd.google.protobuf; messageType=\"a.B, c\"", "application/vnd.google.protobuf"),
      ("application/x-protobuf, application/json", "application/x-protobuf"),
      ("application/json, application/x-protobuf", "json"),
      ("application/json;q=0.5, application/x-protobuf;q=0.6", "application/x-protobuf"),
      ("application/json, application/x-protobuf;q=0.999", "json"),
      ("application/x-protobuf, */*", "application/x-protobuf"),
      ("*/*, application/x-protobuf;q=0.1", "json"),
      ("application/x-protobuf;q=0.2, application/protobuf;q=0.3, */*;q=0.1", "application/protobuf"),
      ("application/x-protobuf;q=0, */*", "json"),
      ("application/json;q=0, */*", "application/x-protobuf"),
      ("application/json;q=0, application/*;q=0, */*", "json"),
      ("application/json;q=0, application/protobuf;q=0, */*", "json"),
      ("application/vnd.api+json, application/x-protobuf;q=0.5", "json"),
      ("text/html, application/x-protobuf;q=0.1", "application/x-protobuf"),
      // Malformed weights are as if they were not there.
      ("application/x-protobuf;q=2, application/json", "json"),
      // Of no use to anybody here: they are disregarded.
      ("text/html", "json"), ("image/*;q=0.5", "json"), ("application/vnd.acme.v2+xml", "json"),
    ])
  func choices(accept: String, expected: String) {
    #expect(form([accept]) == expected)
    // Whatever the request was.
    #expect(form([accept], own: .google) == expected)
    let apart = accept.contains("\"") ? [accept] : accept.split(separator: ",").map(String.init)
    #expect(form(apart) == expected)
  }

  @Test("who reads protobuf only is told where there is none")
  func refused() {
    #expect(form(["application/x-protobuf"], hasProtobuf: false) == "406")
    #expect(form(["application/x-protobuf, application/json;q=0"], hasProtobuf: false) == "406")
    #expect(form(["application/x-protobuf, text/html"], hasProtobuf: false) == "406")
    #expect(form(["application/x-protobuf, application/json;q=0.1"], hasProtobuf: false) == "json")
    #expect(form(["application/x-protobuf, */*;q=0.1"], hasProtobuf: false) == "json")
    #expect(form(["application/x-protobuf;q=0"], hasProtobuf: false) == "json")
    #expect(form(["text/html"], hasProtobuf: false) == "json")
  }

  @Test("anything at all has an answer")
  func hostile() {
    for value in [
      ";;;", ",,,", "\"", "application/x-protobuf;", "a/b;q=", "*/*;q=\"1", "\\\"\\", "application/json;q=1;q=x",
    ] {
      _ = form([value])
      _ = form([value], hasProtobuf: false)
    }
  }
}
