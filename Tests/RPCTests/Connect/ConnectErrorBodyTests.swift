import Bytes
import RPC
import Testing

@Suite("Connect's error JSON")
struct ConnectErrorBodyTests {
  private func read(_ body: String, _ status: Int) -> RPCError {
    ConnectErrorBody.read(bytes(body).span, status: status)
  }

  private func write(_ error: RPCError) -> String { text { ConnectErrorBody.write(error, into: &$0) } }

  // MARK: Writing

  @Test(arguments: Code.allCases)
  func everyCode(code: Code) {
    #expect(write(RPCError(code, "")) == "{\"code\":\"\(code.name)\"}")
    #expect(read(write(RPCError(code, "m")), 500).code == code)
  }

  @Test func messageIsEscaped() {
    let written = write(RPCError(.notFound, "a\"b\\c/\n\r\t\u{8}\u{C}\u{0}\u{1F}\u{7F}ü😀"))
    #expect(
      written == #"{"code":"not_found","message":"a\"b\\c/\n\r\t\b\f\u0000\u001f\u007fü😀"}"#)
  }

  @Test func detailsAreUnpadded() {
    let error = RPCError(
      .unavailable, "x",
      details: [
        ErrorDetail(typeName: "google.rpc.RetryInfo", value: [0x0A, 0x02, 0x08, 0x1E]),
        ErrorDetail(typeName: "a.B", value: []),
      ])
    #expect(
      write(error)
        == #"{"code":"unavailable","message":"x","details":[{"type":"google.rpc.RetryInfo","value":"CgIIHg"},"#
        + #"{"type":"a.B","value":""}]}"#)
  }

  @Test func roundTrip() {
    let error = RPCError(
      .aborted, "line\nbreak \"quoted\" \\ \u{1} é 😀",
      details: [ErrorDetail(typeName: "x.Y", value: Array(0...255)), .badRequest([(field: "a", description: "b")])])
    let again = read(write(error), 409)
    #expect(again.code == error.code)
    #expect(again.message == error.message)
    #expect(again.details == error.details)
    #expect(again.httpStatus == nil)
  }

  // MARK: Reading

  @Test func codeWinsOverStatus() {
    let error = read(#"{"code":"canceled","message":"old server"}"#, 408)
    #expect(error.code == .canceled)
    #expect(error.message == "old server")
  }

  @Test(arguments: [
    #"{"code":null,"message":"oops","details":[{"type":"a.B","value":"AQ"}]}"#,
    #"{"message":"oops","details":[{"type":"a.B","value":"AQ"}]}"#,
    #"{"code":"foobar","message":"oops","details":[{"type":"a.B","value":"AQ"}]}"#,
    #"{"code":"NOT_FOUND","message":"oops","details":[{"type":"a.B","value":"AQ"}]}"#,
    #"{"code":5,"message":"oops","details":[{"type":"a.B","value":"AQ"}]}"#,
    #"{"details":[{"type":"a.B","value":"AQ"}],"code":["not_found"],"message":"oops"}"#,
  ])
  func unusableCodeKeepsTheRest(body: String) {
    let error = read(body, 401)
    #expect(error.code == .unauthenticated)
    #expect(error.message == "oops")
    #expect(error.details == [ErrorDetail(typeName: "a.B", value: [1])])
  }

  @Test(arguments: [
    "", "null", "[]", "\"not_found\"", "<html>no</html>", #"{"code":"not_found""#, #"{"code":"not_found"} x"#,
    #"{"code":"not_found",}"#, #"{,"code":"not_found"}"#, #"{"code" "not_found"}"#, #"{"code":'not_found'}"#,
    #"{"code":"not_found","x":01}"#, #"{"code":"not_found","x":1.}"#, #"{"code":"not_found","x":tru}"#,
    #"{"code":"not_found","message":"\x"}"#, #"{"code":"not_found","message":"\u12g4"}"#,
    "{\"code\":\"not_found\",\"message\":\"a\nb\"}", #"{"code":"not_found","x":[1,]}"#, #"{"code":"not_found","x":+1}"#,
    "\u{FEFF}{\"code\":\"not_found\"}", #"{"code":"not_found"}}"#, "{", "{\"", "{\"a", "{\"a\":",
  ])
  func brokenBodyIsInferred(body: String) {
    let error = read(body, 503)
    #expect(error.code == .unavailable)
    #expect(error.message == "HTTP status 503")
    #expect(error.details.isEmpty)
    #expect(error.logDetail == String(body.prefix(256)))
  }

  @Test(arguments: [
    (400, Code.internal), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
    (429, .unavailable), (502, .unavailable), (503, .unavailable), (504, .unavailable), (409, .unknown),
    (412, .unknown), (413, .unknown), (415, .unknown), (431, .unknown), (505, .unknown), (200, .unknown),
  ])
  func inference(status: Int, code: Code) {
    #expect(read("", status).code == code)
    #expect(read("{}", status).code == code)
    #expect(read("{}", status).message == "HTTP status \(status)")
  }

  @Test func messageIsOptional() {
    #expect(read(#"{"code":"internal"}"#, 500).message == "")
    #expect(read(#"{"code":"internal","message":null}"#, 500).message == "")
    #expect(read(#"{"code":"internal","message":5}"#, 500).code == .internal)
  }

  @Test func escapesAreDecoded() {
    let error = read(#"{"c\u006fde":"not\u005ffound","message":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#, 500)
    #expect(error.code == .notFound)
    #expect(error.message == "\"\\/\u{8}\u{C}\n\r\té😀")
  }

  @Test func loneSurrogatesAndBadUTF8AreRepaired() {
    let error = read(#"{"code":"not_found","message":"a\ud83dx\ude00\ud83d\u0041"}"#, 500)
    #expect(error.code == .notFound)
    #expect(error.message == "a\u{FFFD}x\u{FFFD}\u{FFFD}A")
    let raw = bytes(#"{"code":"not_found","message":""#) + [0xFF] + bytes(#""}"#)
    #expect(ConnectErrorBody.read(raw.span, status: 500).message == "\u{FFFD}")
  }

  @Test func detailsTolerateMuch() {
    let error = read(
      #"""
      {"code":"out_of_range","foo":{"a":[1,-2.5e+3,true,null]},"details":[
        {"type":"type.googleapis.com/google.rpc.RetryInfo","value":"CgIIHg==","debug":"garbage"},
        {"debug":{"x":[{}]},"frob":1,"value":"CgIIHg","type":"google.rpc.RetryInfo"},
        {"type":"a.B","value":"-_8"}, {"type":"a.Empty"},
        {"type":"a.Broken","value":"*"}, {"type":"a.Broken","value":7}, {"type":"a.Broken","value":null},
        {"value":"AQ"}, {"type":"host/","value":"AQ"}, {"type":3,"value":"AQ"}, null, 5, [], {},
        {"type":"last.One","value":"AQ"}
      ]}
      """#, 400)
    let retry = ErrorDetail(typeName: "google.rpc.RetryInfo", value: [0x0A, 0x02, 0x08, 0x1E])
    #expect(error.code == .outOfRange)
    #expect(
      error.details == [
        retry, retry, ErrorDetail(typeName: "a.B", value: [0xFB, 0xFF]), ErrorDetail(typeName: "a.Empty", value: []),
        ErrorDetail(typeName: "last.One", value: [1]),
      ])
  }

  @Test func detailsOfAnotherTypeAreNone() {
    let error = read(#"{"code":"aborted","message":"m","details":{"type":"a.B"}}"#, 409)
    #expect(error.code == .aborted)
    #expect(error.details.isEmpty)
  }

  @Test func detailsAreBounded() {
    let many = Array(repeating: #"{"type":"a.B","value":"AQ"}"#, count: 1_000).joined(separator: ",")
    let error = read(#"{"details":[\#(many)],"code":"aborted"}"#, 409)
    #expect(error.code == .aborted)
    #expect(error.details.count == ConnectErrorBody.maximumDetails)
  }

  @Test func depthIsBounded() {
    func nested(_ levels: Int) -> String {
      #"{"code":"aborted","x":"# + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}"
    }
    #expect(read(nested(90), 503).code == .aborted)
    #expect(read(nested(100_000), 503).code == .unavailable)
    #expect(read(String(repeating: #"{"a":"#, count: 100_000), 503).code == .unavailable)
  }

  @Test func everyCutIsInferred() {
    let body = bytes(#"{"code":"not_found","message":"\u00e9\ud83d\ude00","details":[{"type":"a.B","value":"AQ"}]}"#)
    for end in 0..<body.count {
      #expect(ConnectErrorBody.read(Array(body[..<end]).span, status: 503).code == .unavailable)
    }
    #expect(ConnectErrorBody.read(body.span, status: 503).code == .notFound)
  }

  /// One byte changed anywhere: either the status gives the code, or the text is still an object with its few parts.
  @Test func everyChangedByteIsContained() {
    let body = bytes(#"{"code":"not_found","message":"\u00e9\ud83d\ude00","details":[{"type":"a.B","value":"AQ"}]}"#)
    for index in body.indices {
      for byte in [0, 0x20, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x75, 0x7B, 0x7D, 0xC3, 0xFF] as [UInt8] {
        var changed = body
        changed[index] = byte
        let error = ConnectErrorBody.read(changed.span, status: 503)
        #expect(error.code == .notFound || error.code == .unavailable)
        #expect(error.details.count <= 1)
      }
    }
  }
}
