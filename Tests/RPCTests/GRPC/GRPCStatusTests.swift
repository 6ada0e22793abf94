import Bytes
import HTTPModel
import RPC
import Testing

@Suite("gRPC status")
struct GRPCStatusTests {
  private func error(_ fields: [(String, String)]) -> RPCError? {
    guard case .error(let error) = GRPCStatus.read(block(fields)) else { return nil }
    return error
  }

  private func base64(_ bytes: [UInt8], padded: Bool = false) -> String {
    text { Base64.encode(bytes.span, into: &$0, padded: padded) }
  }

  /// code 5, message "gone", one detail: type a.B, value 01 02.
  private var status: [UInt8] {
    [0x08, 5, 0x12, 4] + bytes("gone") + [0x1A, 11, 0x0A, 5] + bytes("t/a.B") + [0x12, 2, 1, 2]
  }

  @Test func absentAndOK() {
    guard case .absent = GRPCStatus.read(block([("grpc-message", "x")])) else {
      Issue.record("no status is there")
      return
    }
    for value in ["0", "00"] {
      guard case .ok = GRPCStatus.read(block([("Grpc-Status", value), ("grpc-message", "ignored")])) else {
        Issue.record("\(value) is ok")
        return
      }
    }
  }

  @Test(arguments: Code.allCases)
  func everyCodeGoesThere(code: Code) throws {
    let fields = FieldBlock()
    GRPCStatus.write(RPCError(code, "why"), into: fields)
    #expect(lines(fields) == ["grpc-status: \(code.rawValue)", "grpc-message: why"])
    let again = try #require(error([("grpc-status", "\(code.rawValue)"), ("grpc-message", "why")]))
    #expect(again.code == code)
    #expect(again.message == "why")
    #expect(again.details == [])
  }

  @Test(arguments: ["17", "99", "256", "-1", "", "x", "5 5", "99999999999999999999", "0x5"])
  func noStatusOfGRPC(value: String) {
    let unknown = error([("grpc-status", value), ("grpc-message", "oops")])
    #expect(unknown?.code == .unknown)
    #expect(unknown?.message == "oops")
    #expect(error([("grpc-status", value)])?.message == "grpc-status is \"\(value)\", which is none of gRPC's")
  }

  @Test func twoStatuses() {
    let twice = error([("grpc-status", "0"), ("grpc-status", "5")])
    #expect(twice?.code == .unknown)
    #expect(twice?.message == "grpc-status stands there 2 times")
  }

  @Test func details() throws {
    for padded in [true, false] {
      let read = try #require(
        error([
          ("grpc-status", "9"), ("grpc-message", "mine"),
          ("grpc-status-details-bin", base64(status, padded: padded)),
        ]))
      // The status and message of the fields win.
      #expect(read.code == .failedPrecondition)
      #expect(read.message == "mine")
      #expect(read.details == [ErrorDetail(typeName: "a.B", value: [1, 2])])
    }
    #expect(error([("grpc-status", "5"), ("grpc-status-details-bin", base64(status))])?.message == "gone")
  }

  @Test func malformedDetailsKeepTheError() {
    var values = ["*", "A", base64([0x08]), base64([0x1A, 5, 0x0A]), base64([0x0B]), base64([0x00, 0])]
    // Every truncation inside a field, and a detail that is no message.
    for end in 1..<status.count where ![2, 8].contains(end) { values.append(base64(Array(status[..<end]))) }
    values.append(base64([0x1A, 1, 0x0A]))
    for value in values {
      let read = error([("grpc-status", "5"), ("grpc-message", "m"), ("grpc-status-details-bin", value)])
      #expect(read?.code == .notFound)
      #expect(read?.message == "m")
      #expect(read?.details == [])
      #expect(read?.logDetail == "grpc-status-details-bin is malformed")
    }
  }

  @Test func unknownFieldsOfTheStatusAreSkipped() {
    let more = [0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x20, 0xFF, 0x01, 0x2A, 1, 9] + status
    let read = error([("grpc-status", "5"), ("grpc-status-details-bin", base64(more))])
    #expect(read?.details == [ErrorDetail(typeName: "a.B", value: [1, 2])])
  }

  @Test func manyDetailsAreBounded() {
    var many: [UInt8] = []
    for _ in 0..<100 { many += [0x1A, 5, 0x0A, 3] + bytes("a.B") }
    #expect(error([("grpc-status", "5"), ("grpc-status-details-bin", base64(many))])?.details.count == 64)
  }

  @Test func writtenDetailsAreReadAgain() throws {
    let long = Array(repeating: UInt8(7), count: 300)
    let details = [
      ErrorDetail(typeName: "google.rpc.RetryInfo", value: [10, 2, 8, 5]), ErrorDetail(typeName: "x.Y", value: []),
      ErrorDetail(typeName: "x.Z", value: long),
    ]
    let fields = FieldBlock()
    GRPCStatus.write(RPCError(.unavailable, "später", details: details), into: fields)
    #expect(fields.text(of: .grpcMessage) == "sp%C3%A4ter")
    #expect(fields.text(of: .grpcStatusDetailsBin)?.contains("=") == false)
    guard case .error(let again) = GRPCStatus.read(fields) else {
      Issue.record("an error was written")
      return
    }
    #expect(again.code == .unavailable)
    #expect(again.message == "später")
    #expect(again.details == details)
    fields.remove(.grpcMessage)
    guard case .error(let inner) = GRPCStatus.read(fields) else { return }
    #expect(inner.message == "später")
  }

  @Test func whatClientsWouldDropIsLeftOut() {
    let fields = FieldBlock()
    let detail = ErrorDetail(typeName: "x.Y", value: Array(repeating: 1, count: 20_000))
    GRPCStatus.write(RPCError(.aborted, String(repeating: "ä", count: 5_000), details: [detail]), into: fields)
    #expect(fields.text(of: .grpcStatus) == "10")
    #expect(fields.text(of: .grpcMessage) == String(repeating: "%C3%A4", count: 8_192 / 6))
    #expect(!fields.contains(.grpcStatusDetailsBin))
  }

  @Test func success() {
    let fields = block([("x-cost", "1")])
    GRPCStatus.write(nil, into: fields)
    #expect(lines(fields) == ["x-cost: 1", "grpc-status: 0"])
  }

  @Test func whatIsLeftIsMetadata() {
    let fields = block([
      ("Grpc-Status", "5"), ("x-cost", "1"), ("grpc-message", "m"), ("grpc-status-details-bin", "AA"),
      ("grpc-trace-bin", "AQ"),
    ])
    GRPCStatus.removeFields(from: fields)
    #expect(lines(fields) == ["x-cost: 1", "grpc-trace-bin: AQ"])
  }

  @Test(arguments: [
    (200, Code.unknown), (400, .internal), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
    (429, .unavailable), (431, .internal), (500, .unknown), (502, .unavailable), (503, .unavailable),
    (504, .unavailable), (302, .unknown), (418, .unknown),
  ])
  func inferredFromHTTP(status: Int, expected: Code) {
    #expect(GRPCStatus.code(ofHTTPStatus: status) == expected)
  }

  @Test(arguments: [
    (UInt32(0), Code.internal), (1, .internal), (3, .internal), (7, .unavailable), (8, .canceled),
    (11, .resourceExhausted), (12, .permissionDenied), (13, .internal), (14, .unknown), (.max, .unknown),
  ])
  func resets(error: UInt32, expected: Code) {
    #expect(GRPCStatus.code(ofReset: error) == expected)
  }
}

@Suite("grpc-message")
struct GRPCMessageTests {
  @Test(arguments: [
    ("", ""), ("plain text: ~!", "plain text: ~!"), ("100%", "100%25"), ("a\nb\t\u{7F}", "a%0Ab%09%7F"),
    ("ümlaut 😀", "%C3%BCmlaut %F0%9F%98%80"), (" both ends ", "%20both ends%20"), (" ", "%20"), ("\0", "%00"),
  ])
  func coding(message: String, expected: String) {
    #expect(text { GRPCMessage.encode(message, into: &$0) } == expected)
    #expect(GRPCMessage.decode(bytes(expected).span) == message)
  }

  @Test(arguments: [
    ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%%41", "%A"), ("%e2%82%ac", "€"), ("a+b", "a+b"), ("%FF", "\u{FFFD}"),
    ("ü", "ü"),
  ])
  func lenient(value: String, expected: String) {
    #expect(GRPCMessage.decode(bytes(value).span) == expected)
  }
}
