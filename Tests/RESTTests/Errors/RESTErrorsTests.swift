import Bytes
import ProtoJSON
import ProtobufSchema
import REST
import RPC
import Testing

@Suite("REST errors")
struct RESTErrorsTests {
  let codec: JSONCodec

  init() throws {
    codec = JSONCodec(schema: try Fixture.schema(), profile: .standard)
  }

  func write(_ error: RPCError, _ format: ErrorFormat) -> String {
    var output = ByteBuffer()
    let type = RESTErrors.write(error, format: format, codec: codec, into: &output)
    return "[\(type)] \(String(repairing: output.span))"
  }

  func read(_ status: Int, _ body: String, _ type: String? = "application/json") -> RPCError {
    let content = Array(body.utf8)
    guard let type else {
      return RESTErrors.read(status: status, contentType: nil, body: content.span, codec: codec)
    }
    let media = Array(type.utf8)
    return RESTErrors.read(status: status, contentType: media.span, body: content.span, codec: codec)
  }

  let violation = ErrorDetail.badRequest([(field: "a.b", description: "must be positive")])

  // MARK: Writing

  @Test("the four shapes")
  func shapes() {
    let error = RPCError(.notFound, "no \"such\" parcel\n", details: [violation])
    let details =
      #"[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a.b","description":"must be positive"}]}]"#
    #expect(
      write(error, .status) == #"[application/json] {"code":5,"message":"no \"such\" parcel\n","details":"# + details
        + "}")
    #expect(
      write(error, .google)
        == #"[application/json] {"error":{"code":404,"message":"no \"such\" parcel\n","status":"NOT_FOUND","details":"#
        + details + "}}")
    #expect(
      write(error, .problem)
        == #"[application/problem+json] {"type":"about:blank","title":"Not Found","status":404,"detail":"no \"such\" parcel\n","code":"not_found","details":"#
        + details + "}")
    #expect(
      write(error, .connect)
        .hasPrefix(
          #"[application/json] {"code":"not_found","message":"no \"such\" parcel\n","details":[{"type":"google.rpc.BadRequest","value":""#
        ))
  }

  @Test("all sixteen codes with their numbers; a status of its own wins in the shapes that show it")
  func codes() {
    for code in Code.allCases {
      #expect(
        write(RPCError(code, "m"), .status)
          == "[application/json] {\"code\":\(code.rawValue),\"message\":\"m\",\"details\":[]}")
      #expect(write(RPCError(code, "m"), .google).contains("\"code\":\(code.httpStatus),"))
    }
    #expect(write(RPCError(.canceled, ""), .google).contains(#""status":"CANCELLED""#))
    #expect(write(RPCError(.invalidArgument, "", httpStatus: 415), .google).contains("\"code\":415"))
    #expect(
      write(RPCError(.invalidArgument, "", httpStatus: 415), .problem).contains(
        #""title":"Unsupported Media Type","status":415"#))
  }

  @Test("a detail of unknown type or with broken bytes degrades alone")
  func degrading() {
    let details = [
      ErrorDetail(typeName: "acme.Unknown", value: [0xFB, 0xFF]), violation,
      ErrorDetail(typeName: "google.rpc.RetryInfo", value: [0x0A, 9]),
      ErrorDetail(typeName: "google.protobuf.Duration", value: [0x08, 30]),
      ErrorDetail(typeName: "google.protobuf.Empty", value: []),
    ]
    #expect(
      write(RPCError(.internal, "m", details: details), .status)
        == #"[application/json] {"code":13,"message":"m","details":[{"@type":"type.googleapis.com/acme.Unknown","value":"+/8="},"#
        + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a.b","description":"must be positive"}]},"#
        + #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","value":"Cgk="},"#
        + #"{"@type":"type.googleapis.com/google.protobuf.Duration","value":"30s"},"#
        + #"{"@type":"type.googleapis.com/google.protobuf.Empty"}]}"#)
  }

  // MARK: Reading

  @Test(
    "what was written is read back",
    arguments: ErrorFormat.named)
  func roundTrip(format: ErrorFormat) {
    let details = [violation, ErrorDetail(typeName: "acme.Unknown", value: [1, 2, 3])]
    for code in Code.allCases {
      let error = RPCError(code, "it is \(code.name)", details: details)
      var output = ByteBuffer()
      let type = RESTErrors.write(error, format: format, codec: codec, into: &output)
      let back = read(code.httpStatus, String(repairing: output.span), type)
      #expect(back.code == code)
      #expect(back.message == error.message)
      #expect(back.details == details)
    }
  }

  @Test("the status table where the body names no code")
  func statuses() {
    let table: [(Int, Code)] = [
      (400, .invalidArgument), (401, .unauthenticated), (403, .permissionDenied), (404, .notFound),
      (405, .unimplemented),
      (406, .invalidArgument), (408, .deadlineExceeded), (409, .aborted), (410, .notFound), (412, .failedPrecondition),
      (413, .resourceExhausted), (415, .invalidArgument), (416, .outOfRange), (418, .failedPrecondition),
      (422, .invalidArgument), (423, .aborted), (425, .unavailable), (428, .failedPrecondition),
      (429, .resourceExhausted), (499, .canceled), (500, .internal), (501, .unimplemented), (502, .unavailable),
      (503, .unavailable), (504, .deadlineExceeded), (507, .unknown), (302, .unknown),
    ]
    for (status, code) in table {
      #expect(read(status, #"{"error":"x"}"#).code == code)
      #expect(read(status, "", nil).code == code)
      #expect(StatusTable.code(ofRESTStatus: status) == code)
    }
  }

  @Test(
    "messages of legacy bodies",
    arguments: [
      (404, #"{"error":"no parcel"}"#, "no parcel"), (500, #"{"message":"m","error":"e"}"#, "m"),
      (404, #"{"error":{"message":"em"},"detail":"d"}"#, "em"), (404, #"{"detail":"d","title":"t"}"#, "d"),
      (404, #"{"title":"t","status":404}"#, "t"), (404, #"{"message":"","error":"e"}"#, "e"),
      (404, #"{"message":{"a":1},"error":"e"}"#, "e"), (404, #"{"code":1234,"msg":"x"}"#, #"{"code":1234,"msg":"x"}"#),
      (500, #"{"code":1234,"msg":"x"}"#, "HTTP status 500"), (404, "[1]", "[1]"),
      (404, #"{"message":"#, #"{"message":"#),
      (404, "", "HTTP status 404"), (404, "null", "null"), (400, #"{"message":"a"} x"#, #"{"message":"a"} x"#),
    ])
  func messages(status: Int, body: String, message: String) {
    let error = read(status, body)
    #expect(error.message == message)
    #expect(error.logDetail == body)
  }

  @Test("text is cut to an excerpt for 4xx, kept in the log for 5xx; HTML never reaches the caller")
  func texts() {
    #expect(read(404, "no\r\nparcel", "text/plain").message == "no  parcel")
    #expect(read(503, "stack trace", "text/plain").message == "HTTP status 503")
    #expect(read(503, "stack trace", "text/plain").logDetail == "stack trace")
    #expect(read(400, "\u{1}\u{2}", "application/octet-stream").message == "HTTP status 400")
    let long = String(repeating: "é", count: 300)
    #expect(read(400, "x" + long, "text/plain").message == "x" + String(long.prefix(127)))
    for type in ["text/html", "TEXT/HTML; charset=x", "application/json", nil] {
      let error = read(404, " <html>Bad Gateway</html>", type)
      #expect(error.message == "HTTP status 404")
      #expect(error.logDetail.contains("<html>"))
    }
    #expect(read(404, #"{"message":"m"}"#, "text/html").message == "HTTP status 404")
    #expect(read(404, #"{"message":"m"}"#, "text/plain").message == "m")
  }

  @Test("a number is gRPC's only where the rest of the body or the status says so")
  func numbers() {
    #expect(read(500, #"{"code":5,"message":"m"}"#).code == .notFound)
    #expect(read(500, #"{"code":5,"message":"m","details":[]}"#).code == .notFound)
    #expect(read(400, #"{"code":5,"message":"m","requestId":"r"}"#).code == .invalidArgument)
    #expect(read(404, #"{"code":5,"message":"m","requestId":"r"}"#).code == .notFound)
    #expect(read(409, #"{"code":6,"message":"m","x":1}"#).code == .alreadyExists)
    #expect(read(404, #"{"code":404,"message":"m"}"#).code == .notFound)
    #expect(read(404, #"{"code":0,"message":"m"}"#).code == .notFound)
    #expect(read(404, #"{"code":-1,"message":"m"}"#).code == .notFound)
    #expect(read(404, #"{"code":99999999999999999999,"message":"m"}"#).code == .notFound)
    #expect(
      read(400, #"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"m"}}"#).code == .failedPrecondition)
    #expect(read(400, #"{"code":"out_of_range","message":"m"}"#).code == .outOfRange)
    #expect(read(400, #"{"code":"E_BAD","message":"m"}"#).code == .invalidArgument)
  }

  @Test("details that are none are dropped alone")
  func details() {
    let body = #"""
      {"code":3,"message":"m","details":[5,{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"30s"},
      {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"soon"},{"x":1},{"@type":"a/acme.X","value":"AQI"},
      {"type":"google.rpc.RetryInfo","value":"CgIIHg","debug":{}},{"@type":"acme.Y","value":"!"},{"@type":"","value":""}]}
      """#
    let retry = ErrorDetail(typeName: "google.rpc.RetryInfo", value: [0x0A, 2, 8, 30])
    #expect(read(400, body).details == [retry, ErrorDetail(typeName: "acme.X", value: [1, 2]), retry])
    let many = (0..<100).map { _ in #"{"@type":"x/a.B","value":"AQ=="}"# }.joined(separator: ",")
    #expect(read(400, #"{"code":3,"message":"m","details":["# + many + "]}").details.count == 64)
  }

  @Test("no cut of a body crashes the reader, and deep nesting is not followed")
  func cuts() {
    let body =
      #"{"error":{"code":404,"message":"é\u00e9","status":"NOT_FOUND","details":[{"@type":"a/b","value":"AQ"}]}}"#
    for length in 0..<body.count {
      #expect(read(404, String(body.prefix(length))).code == .notFound)
    }
    let deep = String(repeating: "[", count: 100_000)
    #expect(read(400, #"{"message":"m","x":"# + deep).message.hasPrefix(#"{"message":"m","x":[["#))
  }
}
