import Bytes
import HTTPModel
import RPC
import Testing

@Suite("Timeouts and versions")
struct HeaderTests {
  private func timeout(_ values: String...) throws(RPCError) -> Int? {
    let fields = FieldBlock()
    for value in values { fields.append("Connect-Timeout-Ms", value) }
    return try ConnectTimeout.milliseconds(fields)
  }

  @Test func timeouts() throws {
    #expect(try ConnectTimeout.milliseconds(FieldBlock()) == nil)
    #expect(try timeout("0") == 0)
    #expect(try timeout("250") == 250)
    #expect(try timeout("0000000250") == 250)
    #expect(try timeout("9999999999") == 9_999_999_999)
  }

  @Test(arguments: ["", "10000000000", "00000000001", "-1", "+1", "1.5", "1s", " 1", "0x10", "abc", "1,2"])
  func badTimeouts(value: String) {
    #expect(refusal { () throws(RPCError) in try timeout(value) }?.code == .invalidArgument)
  }

  @Test func twoTimeouts() {
    #expect(refusal { () throws(RPCError) in try timeout("5", "5") }?.code == .invalidArgument)
  }

  @Test(arguments: [(5, "5"), (0, "0"), (-3, "0"), (Int.max, "9999999999")])
  func writtenTimeout(milliseconds: Int, expected: String) {
    let fields = FieldBlock()
    ConnectTimeout.append(milliseconds: milliseconds, to: fields)
    #expect(lines(fields) == ["connect-timeout-ms: \(expected)"])
  }

  @Test func versions() throws {
    try ConnectVersion.check(FieldBlock())
    try ConnectVersion.check(block([("Connect-Protocol-Version", "1")]))
    for value in ["0", "2", "", "1.0", "v1"] {
      let fields = block([("connect-protocol-version", value)])
      #expect(refusal { () throws(RPCError) in try ConnectVersion.check(fields) }?.code == .invalidArgument)
    }
  }
}

@Suite("Metadata")
struct MetadataTests {
  private func isReserved(_ name: String) -> Bool { Metadata.isReserved(bytes(name).span) }
  private func isBinary(_ name: String) -> Bool { Metadata.isBinary(bytes(name).span) }

  @Test func reservedNames() {
    for name in ["connect-timeout-ms", "Connect-Foo", "trailer-connect-x", "TRAILER-CONNECT-X"] {
      #expect(isReserved(name))
    }
    for name in ["connection", "connect", "x-connect-y", "trailer-x", "trailer"] {
      #expect(!isReserved(name))
    }
  }

  @Test func trailersAreSplitOff() {
    let fields = block([
      ("Content-Type", "application/json"), ("Trailer-X-Cost", "12"), ("trailer-x-cost", "13"), ("X-App", "a"),
      ("Trailer", "x"), ("Trailer-", "empty"), ("Trailer-Connect-Secret", "s"), ("Trailer-Content-Length", "5"),
      ("Trailer-Set-Cookie", "a=b"), ("Trailer-Transfer-Encoding", "chunked"), ("Trailer-Data-Bin", "AQI"),
    ])
    let trailers = FieldBlock()
    Metadata.splitTrailers(fields, into: trailers)
    #expect(lines(trailers) == ["X-Cost: 12", "x-cost: 13", "Data-Bin: AQI"])
    #expect(lines(fields) == ["Content-Type: application/json", "X-App: a", "Trailer: x", "Trailer-: empty"])
  }

  @Test func trailersAreJoined() {
    let trailers = block([("x-cost", "12"), ("authorization", "secret"), ("connect-x", "1"), ("y", "")])
    let removed = block([("gone", "1")])
    removed.remove(at: 0)
    let fields = block([("a", "b")])
    Metadata.joinTrailers(trailers, into: fields)
    Metadata.joinTrailers(removed, into: fields)
    #expect(lines(fields) == ["a: b", "trailer-x-cost: 12", "trailer-y: "])
    let again = FieldBlock()
    Metadata.splitTrailers(fields, into: again)
    #expect(lines(again) == ["x-cost: 12", "y: "])
  }

  @Test func binaryNames() {
    #expect(isBinary("x-data-bin"))
    #expect(isBinary("X-Data-BIN"))
    #expect(!isBinary("x-databin"))
    #expect(!isBinary("-bin"))
  }

  @Test(arguments: [
    ("AQI=", "AQI"), ("AQI", "AQI"), ("-_-_", "+/+/"), ("", ""), ("AQI=, AQID", "AQI,AQID"), ("AQ==", "AQ"),
    ("AQI=,", "AQI,"),
  ])
  func binaryValues(value: String, expected: String) {
    var isValid = false
    let written = text { isValid = Metadata.normalizeBinary(bytes(value).span, into: &$0) }
    #expect(isValid)
    #expect(written == expected)
  }

  @Test(arguments: ["A", "A*==", "AQI=,A", "A Q", "===="])
  func badBinaryValues(value: String) {
    var isValid = true
    let written = text { isValid = Metadata.normalizeBinary(bytes(value).span, into: &$0) }
    #expect(!isValid)
    #expect(written == "")
  }
}
