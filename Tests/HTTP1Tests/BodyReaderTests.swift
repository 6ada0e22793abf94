import Bytes
import HTTP1
import HTTP1TestSupport
import HTTPModel
import Testing

@Suite("Body reader")
struct BodyReaderTests {
  @Test("no body, and one of length 0, are complete at once")
  func empty() throws {
    for framing in [BodyFraming.none, .length(0)] {
      var reader = BodyReader(framing: framing, limits: HeadLimits())
      #expect(reader.isComplete)
      var input = ByteBuffer(Array("next".utf8))
      let event = try reader.next(&input, trailers: FieldBlock())
      #expect(event == .end)
      #expect(input.count == 4)
      try reader.inputClosed()
    }
  }

  @Test("a length takes its bytes and none of the next message")
  func length() throws {
    var reader = BodyReader(framing: .length(6), limits: HeadLimits())
    let trailers = FieldBlock()
    var input = ByteBuffer()
    var events = [try reader.next(&input, trailers: trailers)]
    input.append("abcd")
    events.append(try reader.next(&input, trailers: trailers))
    input.consume(4)
    #expect(!reader.isComplete)
    input.append("efGET")
    events.append(try reader.next(&input, trailers: trailers))
    input.consume(2)
    #expect(reader.isComplete)
    events.append(try reader.next(&input, trailers: trailers))
    events.append(try reader.next(&input, trailers: trailers))
    #expect(events == [.needsMore, .data(4), .data(2), .end, .end])
    #expect(input.bytes == Array("GET".utf8))
  }

  @Test("chunks give their data where it lies, and leave what follows")
  func chunked() throws {
    var reader = BodyReader(framing: .chunked, limits: HeadLimits())
    let trailers = FieldBlock()
    var input = ByteBuffer(Array("3\r\nabc\r\n2\r\nde\r\n0\r\nX-A: 1\r\nTransfer-Encoding: x\r\n\r\nGET".utf8))
    var body: [UInt8] = []
    var event = try reader.next(&input, trailers: trailers)
    while case .data(let count) = event {
      body += input.bytes.prefix(count)
      input.consume(count)
      #expect(!reader.isComplete)
      event = try reader.next(&input, trailers: trailers)
    }
    #expect(event == .end)
    #expect(reader.isComplete)
    #expect(body == Array("abcde".utf8))
    #expect(ConnectionTranscript.texts(of: trailers) == ["X-A: 1"])
    #expect(input.bytes == Array("GET".utf8))
  }

  @Test("until close: data until the end is told, then the end")
  func untilClose() throws {
    var reader = BodyReader(framing: .untilClose, limits: HeadLimits())
    var input = ByteBuffer(Array("ab".utf8))
    let trailers = FieldBlock()
    var events = [try reader.next(&input, trailers: trailers)]
    input.consume(2)
    events.append(try reader.next(&input, trailers: trailers))
    try reader.inputClosed()
    #expect(!reader.isComplete)
    events.append(try reader.next(&input, trailers: trailers))
    #expect(events == [.data(2), .needsMore, .end])
    #expect(reader.isComplete)
  }

  @Test("an end inside a body is truncation, and stays so")
  func truncated() {
    for framing in [BodyFraming.length(1), .chunked] {
      var reader = BodyReader(framing: framing, limits: HeadLimits())
      var input = ByteBuffer()
      #expect(throws: HTTP1Error(.truncatedBody)) { try reader.inputClosed() }
      #expect(throws: HTTP1Error(.truncatedBody)) { _ = try reader.next(&input, trailers: FieldBlock()) }
      #expect(throws: HTTP1Error(.truncatedBody)) { try reader.inputClosed() }
    }
  }

  @Test("fair chunks of one byte are no overhead, in any number")
  func smallChunks() throws {
    var reader = BodyReader(framing: .chunked, limits: HeadLimits())
    let trailers = FieldBlock()
    var bytes = 0
    for _ in 0..<20_000 {
      var input = ByteBuffer(Array("1\r\nx\r\n".utf8))
      while case .data(let count) = try reader.next(&input, trailers: trailers) {
        bytes += count
        input.consume(count)
      }
    }
    #expect(bytes == 20_000)
  }

  @Test("the longest extension that is allowed")
  func longestExtension() throws {
    var reader = BodyReader(framing: .chunked, limits: HeadLimits())
    var input = ByteBuffer(Array(("0;" + String(repeating: "a", count: 255) + "\r\n\r\n").utf8))
    let event = try reader.next(&input, trailers: FieldBlock())
    #expect(event == .end)
  }

  @Test(
    "fields that may not be trailers are dropped",
    arguments: [
      "Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer", "TE", "Upgrade", "Authorization",
      "Cookie",
      "Set-Cookie", "WWW-Authenticate", "Content-Type", "Content-Encoding", "Content-Range", "Cache-Control", "Expect",
      "Max-Forwards", "Range", "If-Match", "If-None-Match", "If-Range", "Age", "Expires", "Date", "Location",
      "Retry-After", "Vary", "X-Forwarded-For", "Forwarded", "Connect-Timeout-Ms", "Grpc-Timeout", "pRAGMA",
    ])
  func forbidden(_ name: String) throws {
    var reader = BodyReader(framing: .chunked, limits: HeadLimits())
    let trailers = FieldBlock()
    var input = ByteBuffer(Array("0\r\nbefore: 1\r\n\(name): x\r\nGrpc-Status: 0\r\n\r\n".utf8))
    let event = try reader.next(&input, trailers: trailers)
    #expect(event == .end)
    #expect(ConnectionTranscript.texts(of: trailers) == ["before: 1", "Grpc-Status: 0"])
  }

  @Test func bytesThatWentAnotherWayAreCounted() throws {
    var reader = BodyReader(framing: .length(10), limits: HeadLimits())
    let trailers = FieldBlock()
    var input = ByteBuffer(Array("abc".utf8))
    #expect(try reader.next(&input, trailers: trailers) == .data(3))
    input.consume(3)
    #expect(reader.remainingLength == 7)
    reader.skip(5)
    #expect(reader.remainingLength == 2)
    #expect(try reader.next(&input, trailers: trailers) == .needsMore)
    reader.skip(2)
    #expect(reader.isComplete)
    #expect(reader.remainingLength == nil)
    #expect(try reader.next(&input, trailers: trailers) == .end)
    #expect(BodyReader(framing: .chunked, limits: HeadLimits()).remainingLength == nil)
  }
}
