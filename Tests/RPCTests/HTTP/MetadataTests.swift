import Bytes
import HTTPModel
import RPC
import Testing

@Suite("Metadata")
struct MetadataTests {
  private func isReserved(_ name: String) -> Bool { Metadata.isReserved(bytes(name).span) }
  private func isKept(_ name: String) -> Bool { Metadata.isKeptForGRPC(bytes(name).span) }
  private func isBase64(_ value: String) -> Bool { Metadata.isBase64(bytes(value).span) }
  private func isBinary(_ name: String) -> Bool { Metadata.isBinary(bytes(name).span) }

  @Test func reservedNames() {
    for name in [
      "connect-timeout-ms", "Connect-Foo", "trailer-connect-x", "TRAILER-CONNECT-X", "grpc-status",
      "Grpc-Message", "grpc-status-details-bin", "grpc-encoding", "grpc-accept-encoding", "grpc-timeout",
      "grpc-message-type",
    ] {
      #expect(isReserved(name))
    }
    for name in ["connection", "connect", "x-connect-y", "trailer-x", "trailer", "grpc-trace-bin", "grpc-x"] {
      #expect(!isReserved(name))
    }
  }

  @Test func namesThatAreKeptForGRPC() {
    for name in ["grpc-foo", "Grpc-Status", "grpc-previous-rpc-attempts", "grpc-x-bin"] {
      #expect(isKept(name))
    }
    for name in ["grpc-trace-bin", "Grpc-Tags-Bin", "grpc", "grpcx", "x-grpc-web", ""] {
      #expect(!isKept(name))
    }
  }

  @Test func base64InEitherAlphabet() {
    for value in ["", "AA", "AAE", "AAE=", "-_8", "+/8=", "AAE,AAI", "AAE=, AAI="] {
      #expect(isBase64(value), "\(value)")
    }
    for value in ["!!!", "A", "AA E", "AAE,!", "AAE,A", "AAEAA", "é"] {
      #expect(!isBase64(value), "\(value)")
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

  private func carried(_ name: String, _ value: String, prefix: StaticString = "") -> [String] {
    let target = FieldBlock()
    Metadata.carry(block([(name, value)]), at: 0, to: target, prefix: prefix)
    return lines(target)
  }

  @Test func carriedBetweenDialects() {
    #expect(carried("x-a", "AQ==, AQ") == ["x-a: AQ==, AQ"])
    #expect(carried("x-a", "1", prefix: "trailer-") == ["trailer-x-a: 1"])
    #expect(carried("x-a-bin", "AQI") == ["x-a-bin: AQI"])
    #expect(carried("X-A-Bin", "AQI=") == ["X-A-Bin: AQI"])
    #expect(carried("x-a-bin", "-_-_") == ["x-a-bin: +/+/"])
    #expect(carried("x-a-bin", "AQI=, AQ==,AQID") == ["x-a-bin: AQI", "x-a-bin: AQ", "x-a-bin: AQID"])
    #expect(carried("x-a-bin", "AQ==", prefix: "trailer-") == ["trailer-x-a-bin: AQ"])
    #expect(carried("x-a-bin", "") == ["x-a-bin: "])
    // What is no base64 is for the peer to judge.
    #expect(carried("x-a-bin", "A*") == ["x-a-bin: A*"])
    #expect(carried("x-a-bin", "AQ==,*") == ["x-a-bin: AQ==,*"])
  }

  @Test func longListsOfBinaryValuesRepeatNoName() {
    let name = String(repeating: "n", count: 1_000) + "-bin"
    func list(_ count: Int, _ value: String) -> String {
      (0..<count).map { _ in value }.joined(separator: ",")
    }
    #expect(carried(name, list(64, "AQ==")) == (0..<64).map { _ in "\(name): AQ" })
    #expect(carried(name, list(65, "AQ==")) == ["\(name): \(list(65, "AQ"))"])
    #expect(carried(name, list(10_000, "")) == ["\(name): \(list(10_000, ""))"])
  }
}
