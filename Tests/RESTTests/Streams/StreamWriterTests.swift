import Bytes
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Streams to REST callers")
struct StreamWriterTests {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture("p.GetReq", HTTPRule(method: "GET", path: "/v1/{id}"), streams: true)
  }

  private func stream(
    _ form: StreamForm, _ messages: [String], error: RPCError? = nil, format: ErrorFormat = .status,
    envelope: String? = nil
  ) throws -> String {
    var output = ByteBuffer()
    var writer = StreamWriter(.json(form))
    for message in messages {
      let wire = try fixture.wire(message, "p.Parcel")
      #expect(try writer.write(wire.span, fixture.binding, envelope: envelope, into: &output) == "application/json")
    }
    #expect(writer.messages == messages.count)
    #expect(writer.finish(error, format: format, codec: fixture.codec, into: &output) == .complete)
    return String(repairing: output.span)
  }

  private let two = [#"{"id":"a\nb"}"#, #"{"id":"c"}"#]

  @Test func lines() throws {
    #expect(try stream(.ndjson, two) == "{\"id\":\"a\\nb\"}\n{\"id\":\"c\"}\n")
    #expect(try stream(.ndjson, []) == "")
    #expect(try stream(.ndjson, ["{}"], envelope: "data") == "{\"data\":{}}\n")
  }

  @Test func arrays() throws {
    #expect(try stream(.array, two) == #"[{"id":"a\nb"},{"id":"c"}]"#)
    #expect(try stream(.array, ["{}"]) == "[{}]")
    #expect(try stream(.array, []) == "[]")
  }

  @Test func events() throws {
    #expect(
      try stream(.sse, two) == "data: {\"id\":\"a\\nb\"}\n\ndata: {\"id\":\"c\"}\n\nevent: end\ndata: {}\n\n")
    #expect(try stream(.sse, []) == "event: end\ndata: {}\n\n")
  }

  @Test(arguments: [
    (StreamForm.ndjson, "{}\n{\"error\":{\"code\":15,\"message\":\"half\\n\",\"details\":[]}}\n"),
    (.array, "[{},{\"error\":{\"code\":15,\"message\":\"half\\n\",\"details\":[]}}]"),
    (.sse, "data: {}\n\nevent: error\ndata: {\"code\":15,\"message\":\"half\\n\",\"details\":[]}\n\n"),
  ])
  func errorsInMidStream(form: StreamForm, expected: String) throws {
    #expect(try stream(form, ["{}"], error: RPCError(.dataLoss, "half\n")) == expected)
  }

  @Test(arguments: [
    (ErrorFormat.google, "{\"error\":{\"code\":409,\"message\":\"x\",\"status\":\"ABORTED\"}}\n"),
    (.connect, "{\"error\":{\"code\":\"aborted\",\"message\":\"x\"}}\n"),
    (
      .problem,
      "{\"error\":{\"type\":\"about:blank\",\"title\":\"Conflict\",\"status\":409,\"detail\":\"x\",\"code\":\"aborted\"}}\n"
    ),
  ])
  func errorsInTheRoutesFormat(format: ErrorFormat, expected: String) throws {
    #expect(try stream(.ndjson, [], error: RPCError(.aborted, "x"), format: format) == expected)
    #expect(try stream(.array, [], error: RPCError(.aborted, "x"), format: format) == "[\(expected.dropLast())]")
  }

  @Test func whatHasNoJSONLeavesNothing() throws {
    for form in StreamForm.allCases {
      var output = ByteBuffer()
      output.append("before")
      var writer = StreamWriter(.json(form))
      do throws(RPCError) {
        try writer.write([0xFF].span, fixture.binding, envelope: nil, into: &output)
        Issue.record("no message")
      } catch {
        #expect(error.code == .internal)
      }
      #expect(String(repairing: output.span) == "before")
      #expect(writer.messages == 0)
    }
  }

  @Test func rawBytes() throws {
    let raw = try Fixture("p.GetReq", "google.api.HttpBody", HTTPRule(method: "GET", path: "/v1/{id}"), streams: true)
    #expect(raw.binding.answersRaw)
    #expect(!fixture.binding.answersRaw)
    var output = ByteBuffer()
    var writer = StreamWriter(.raw)
    let first = try raw.wire(#"{"contentType":"text/csv","data":"YSxi"}"#, "google.api.HttpBody")
    let second = try raw.wire(#"{"data":"Cg=="}"#, "google.api.HttpBody")
    #expect(try writer.write(first.span, raw.binding, envelope: "data", into: &output) == "text/csv")
    _ = try writer.write(second.span, raw.binding, envelope: "data", into: &output)
    #expect(String(repairing: output.span) == "a,b\n")
    #expect(writer.finish(nil, format: .status, codec: raw.codec, into: &output) == .complete)
    #expect(writer.finish(RPCError(.aborted, "x"), format: .status, codec: raw.codec, into: &output) == .cut)
    #expect(String(repairing: output.span) == "a,b\n")
  }
}
