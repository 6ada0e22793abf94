import Bytes
import HTTP1
import HTTP1TestSupport
import HTTPModel
import Testing

@Suite("Writers")
struct WriterTests {
  static func fields(_ fields: [(String, String)]) -> FieldBlock { HopByHopTests.block(fields) }

  static func request(
    _ method: HTTPMethod, _ fields: FieldBlock, _ framing: BodyFraming, closing: Bool = false
  ) -> String {
    var output = ByteBuffer()
    HeadWriter.request(
      method: method, target: Array("/a?b".utf8).span, authority: Array("up:80".utf8).span, fields: fields,
      framing: framing, closing: closing, into: &output)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  static func response(_ status: Int, _ fields: FieldBlock, _ framing: BodyFraming, closing: Bool = false) -> String {
    var output = ByteBuffer()
    HeadWriter.response(status: status, fields: fields, framing: framing, closing: closing, into: &output)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  @Test("a request has one Host and one framing field, whatever the block has")
  func requests() {
    let fields = Self.fields([
      ("Accept", "x"), ("Host", "old"), ("Content-Length", "9"), ("x-b", ""), ("transfer-encoding", "y"), ("z", "1"),
    ])
    #expect(
      Self.request(.get, fields, .none) == "GET /a?b HTTP/1.1\r\nhost: up:80\r\nAccept: x\r\nx-b: \r\nz: 1\r\n\r\n")
    #expect(
      Self.request(.other("PURGE"), Self.fields([]), .length(12), closing: true)
        == "PURGE /a?b HTTP/1.1\r\nhost: up:80\r\ncontent-length: 12\r\nconnection: close\r\n\r\n")
    #expect(
      Self.request(.patch, Self.fields([("a", "1")]), .chunked)
        == "PATCH /a?b HTTP/1.1\r\nhost: up:80\r\na: 1\r\ntransfer-encoding: chunked\r\n\r\n")
  }

  @Test("methods that have bodies say so when there is none", arguments: [HTTPMethod.post, .put, .patch])
  func noBody(_ method: HTTPMethod) {
    #expect(
      Self.request(method, Self.fields([]), .none)
        == "\(method.name) /a?b HTTP/1.1\r\nhost: up:80\r\ncontent-length: 0\r\n\r\n")
  }

  @Test("responses")
  func responses() {
    let fields = Self.fields([("content-length", "3"), ("a", "1"), ("host", "h")])
    fields.append("b", "2")
    fields.remove(named: Array("A".utf8).span)
    #expect(
      Self.response(200, fields, .length(7))
        == "HTTP/1.1 200 OK\r\nhost: h\r\nb: 2\r\ncontent-length: 7\r\n\r\n")
    #expect(
      Self.response(404, Self.fields([]), .chunked, closing: true)
        == "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
    #expect(Self.response(200, Self.fields([]), .untilClose) == "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
    #expect(Self.response(599, Self.fields([]), .none) == "HTTP/1.1 599 \r\n\r\n")
  }

  @Test("no framing field where there is no body", arguments: [100, 101, 204, 304])
  func bodyless(_ status: Int) {
    for framing in [BodyFraming.length(5), .chunked, .none] {
      #expect(
        Self.response(status, Self.fields([("content-length", "5")]), framing)
          == "HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n\r\n")
    }
  }

  @Test("what is written is read back")
  func roundTrip() {
    var output = Array(Self.request(.post, Self.fields([("A", "1"), ("b", "x y")]), .chunked).utf8)
    var chunks = ByteBuffer()
    ChunkedWriter.chunk(Array("hello".utf8).span, into: &chunks)
    ChunkedWriter.chunk([UInt8]().span, into: &chunks)
    let data = ByteBuffer(Array("-, world of chunks-".utf8))
    ChunkedWriter.chunk(data, 1..<18, into: &chunks)
    ChunkedWriter.end(trailers: Self.fields([("X-Sum", "9")]), into: &chunks)
    #expect(
      String(decoding: chunks.bytes, as: UTF8.self)
        == "5\r\nhello\r\n11\r\n, world of chunks\r\n0\r\nX-Sum: 9\r\n\r\n")
    output += chunks.bytes
    #expect(
      ConnectionTranscript.of(.requests, output) == [
        "POST /a?b HTTP/1.1 path 2 for up:80", "host: up:80", "A: 1", "b: x y", "transfer-encoding: chunked",
        "framing chunked", options(), "kept host: up:80", "kept A: 1", "kept b: x y", "body 22: hello, world of chunks",
        "trailer X-Sum: 9", "end", "closed",
      ])
  }

  @Test("the last chunk without trailers")
  func lastChunk() {
    var output = ByteBuffer()
    ChunkedWriter.end(trailers: nil, into: &output)
    #expect(output.bytes == Array("0\r\n\r\n".utf8))
  }
}
