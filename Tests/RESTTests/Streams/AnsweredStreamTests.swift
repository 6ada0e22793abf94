import Bytes
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("Streams that REST services answer")
struct AnsweredStreamTests {
  private let rule = HTTPRule(method: "GET", path: "/v1/{id}")

  private func fixture(_ output: String = "p.Parcel", _ rule: HTTPRule? = nil, more: String = "") throws -> Fixture {
    try Fixture("p.GetReq", output, rule ?? self.rule, streams: true, more: more)
  }

  private func form(_ fixture: Fixture, _ type: String?) -> String {
    do throws(RPCError) {
      guard let type else { return "\(try fixture.binding.answeredStream(status: 200, contentType: nil))" }
      return "\(try fixture.binding.answeredStream(status: 200, contentType: Array(type.utf8).span))"
    } catch {
      return error.code.name.description
    }
  }

  @Test func byContentType() throws {
    let messages = try fixture()
    for type in [
      "application/x-ndjson", "Application/NDJSON; charset=utf-8", "application/jsonl", "application/x-jsonlines",
      "application/stream+json",
    ] {
      #expect(form(messages, type) == "values(REST.StreamReader.Form.lines)")
    }
    #expect(form(messages, "application/json-seq") == "values(REST.StreamReader.Form.sequence)")
    #expect(form(messages, "text/event-stream;charset=UTF-8") == "events")
    for type in [nil, "application/json", "text/json", "application/vnd.x+json"] {
      #expect(form(messages, type) == "values(REST.StreamReader.Form.json)")
    }
    #expect(form(messages, "application/x-protobuf") == "values(REST.StreamReader.Form.whole)")
    for type in ["text/html", "text/plain", "application/connect+json", "x"] {
      #expect(form(messages, type) == "internal")
    }
    #expect(form(try fixture("google.api.HttpBody"), "text/html") == "values(REST.StreamReader.Form.raw)")
  }

  private func read(_ pieces: [ArraySlice<UInt8>], _ form: StreamReader.Form, maximum: Int) -> [String] {
    var reader = StreamReader(form, of: .upstream, maximumMessage: maximum)
    var input = ByteBuffer()
    var found: [String] = []
    do throws(RPCError) {
      for (index, piece) in pieces.enumerated() {
        input.append(Array(piece))
        reading: while true {
          switch try reader.next(&input, isLast: index == pieces.count - 1) {
          case .needsMore: break reading
          case .end: return found
          case .message(let count):
            found.append(String(repairing: input.span.extracting(first: count)))
            input.consume(count)
          }
        }
      }
      return found + ["no end"]
    } catch {
      return found + ["\(error.httpStatus ?? 0) \(error.code.name)"]
    }
  }

  private func check(_ body: String, _ form: StreamReader.Form, _ expected: [String], maximum: Int = 100) {
    let bytes = Array(body.utf8)
    for cut in 0...bytes.count {
      #expect(read([bytes[..<cut], bytes[cut...]], form, maximum: maximum) == expected, "\(body) cut at \(cut)")
    }
    #expect(read(bytes.indices.map { bytes[$0...$0] } + [[]], form, maximum: maximum) == expected)
  }

  @Test func sequences() {
    check("\u{1E}{}\n\u{1E}{\"a\":1}\n", .sequence, ["{}", "{\"a\":1}"])
    check("\u{1E}1\n\u{1E}\u{1E}true", .sequence, ["1", "true"])
    check("", .sequence, [])
    // A record that is cut ends where the next one begins; the codec refuses it.
    check("\u{1E}{\"a\u{1E}{}\n", .sequence, ["{\"a", "{}"])
    check("\u{1E}{\u{1E}{}\n", .sequence, ["{", "{}"])
    check("\u{1E}{\"a", .sequence, ["502 internal"])
    // In other forms it is a byte like others.
    check("\u{1E}{}", .lines, ["\u{1E}", "{}"])
  }

  @Test func wholeBodies() {
    check("", .whole, [""])
    check("a b\n", .whole, ["a b\n"])
    check("12345", .whole, ["12345"], maximum: 5)
    check("123456", .whole, ["502 resource_exhausted"], maximum: 5)
  }

  @Test func faultsAreTheUpstreams() {
    check("[{}", .json, ["{}", "502 internal"])
    check("[{}{}]", .json, ["{}", "502 internal"])
    check("{}\n{", .lines, ["{}", "502 internal"])
    check("{}\n{\"a\":1}", .lines, ["{}", "502 resource_exhausted"], maximum: 3)
  }

  private func error(_ fixture: Fixture, _ json: String, envelope: String? = nil) -> String? {
    let bytes = Array(json.utf8)
    guard fixture.binding.isStreamError(bytes.span, envelope: envelope) else { return nil }
    let error = RESTErrors.readInStream(bytes.span, codec: fixture.codec)
    return "\(error.code.name): \(error.message)"
  }

  @Test func errorsInThePlaceOfAMessage() throws {
    let parcels = try fixture()
    #expect(error(parcels, #"{"error":{"code":5,"message":"gone","details":[]}}"#) == "not_found: gone")
    #expect(error(parcels, #"{ "error" : {"code":404,"message":"gone","status":"NOT_FOUND"} }"#) == "not_found: gone")
    #expect(error(parcels, #"{"error":{"code":404,"message":"gone"}}"#) == "not_found: gone")
    #expect(error(parcels, #"{"error":{"status":409,"code":"aborted","detail":"again"}}"#) == "aborted: again")
    #expect(error(parcels, #"{"error":"it broke"}"#) == "unknown: it broke")
    #expect(error(parcels, #"{"error":{}}"#) == "unknown: the upstream ended its stream with an error")
    for message in [
      #"{"id":"x"}"#, #"{"error":null}"#, #"{"error":{},"id":"x"}"#, #"{"id":"x","error":{}}"#, "{}", #"["error"]"#,
      #"{"error":{}"#, #"{"error":7}"#, "", #"{"error"#,
    ] {
      #expect(error(parcels, message) == nil, "\(message)")
    }
  }

  @Test func aMessageMayHaveAFieldError() throws {
    let result = try fixture("p.Result", more: "p.Result: 1 error google.rpc.Status, 2 value string\n")
    #expect(error(result, #"{"error":{"code":5,"message":"m"}}"#) == nil)
    // Outside of the envelope no message stands.
    #expect(error(result, #"{"error":{"code":5,"message":"m"}}"#, envelope: "data") == "not_found: m")
  }

  @Test func listsInAnEnvelope() throws {
    let parcels = try fixture()
    func list(_ fixture: Fixture, _ json: String) -> String? {
      let bytes = Array(json.utf8)
      let range = fixture.binding.enclosedArray(bytes.span, envelope: "data")
      return range.map { String(decoding: bytes[$0], as: UTF8.self) }
    }
    #expect(list(parcels, #"{"n":2,"data":[{},{}],"next":null}"#) == "[{},{}]")
    #expect(list(parcels, #"{"data":{}}"#) == nil)
    #expect(list(parcels, #"{"n":1}"#) == nil)
    #expect(list(parcels, #"{"data":[{}"#) == nil)
    // There the list is the message.
    let lists = try fixture("p.ListRes", HTTPRule(method: "GET", path: "/v1/{id}", responseBody: "parcels"))
    #expect(list(lists, #"{"data":[{}]}"#) == nil)
    #expect(list(try fixture("google.protobuf.ListValue"), #"{"data":[{}]}"#) == nil)
  }

  private func further(_ fixture: Fixture, _ wire: [UInt8], target: String) -> String {
    var content = ByteBuffer()
    do throws(RPCError) {
      let type = try fixture.binding.encodeFurtherRequest(wire.span, target: Array(target.utf8).span, into: &content)
      return "\(type ?? "-") \(content.withSpan { String(repairing: $0) })"
    } catch {
      return error.code.name.description
    }
  }

  @Test func furtherMessagesOfAnUpload() throws {
    let scan = try Fixture("p.ScanReq", HTTPRule(method: "POST", path: "/v1/{id}", body: "scan"))
    let body: [UInt8] = [0x12, 5, 0x12, 3, 97, 98, 99]
    let typed: [UInt8] = [0x12, 5, 0x0A, 3, 97, 47, 98]
    #expect(further(scan, body, target: "/v1/x") == "application/octet-stream abc")
    #expect(further(scan, typed, target: "/v1/x") == "a/b ")
    #expect(further(scan, [], target: "/v1/x") == "- ")
    #expect(further(scan, [0x0A, 1, 120] + body, target: "/v1/x") == "application/octet-stream abc")
    #expect(further(scan, [0x0A, 1, 121] + body, target: "/v1/x") == "invalid_argument")
    #expect(further(scan, [0x12, 9], target: "/v1/x") == "invalid_argument")
    let whole = try Fixture("google.api.HttpBody", HTTPRule(method: "POST", path: "/v1/up", body: "*"))
    #expect(further(whole, [0x12, 1, 97], target: "/v1/up") == "application/octet-stream a")
  }
}
