import Bytes
import RPC
import Testing

/// A whole body is read as the reader of streams would read it.
@Suite struct EnvelopedBodyTests {
  private func envelope(_ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var buffer = ByteBuffer()
    EnvelopeHead(flags: flags, length: payload.count).write(into: &buffer)
    return buffer.bytes + payload
  }

  private func read(
    _ body: [UInt8], _ dialect: EnvelopeDialect = .grpcWeb, _ direction: EnvelopeReader.Direction = .response,
    hasCoding: Bool = true, needsEnd: Bool = true
  ) throws(RPCError) -> EnvelopedBody {
    try EnvelopedBody(
      body.span, dialect, direction, maximumMessage: 10, hasCoding: hasCoding, needsEnd: needsEnd)
  }

  @Test func aMessageAndItsEnd() throws {
    let body = envelope(1, [1, 2, 3]) + envelope(0x81, [4])
    let found = try read(body)
    #expect(found.messages == 1 && found.isCompressed && found.isEndCompressed)
    #expect(Array(body[found.message]) == [1, 2, 3])
    #expect(found.end.map { Array(body[$0]) } == [4])
  }

  @Test func theNumberOfMessages() throws {
    #expect(try read([], .grpc).messages == 0)
    #expect(try read(envelope(0, []), .grpc).messages == 1)
    let two = try read(envelope(0, [1]) + envelope(1, [2, 3]), .grpc)
    // The first one is what is known of.
    #expect(two.messages == 2 && two.message == 5..<6 && !two.isCompressed)
  }

  @Test func exactlyTheLimit() throws {
    #expect(try read(envelope(0, Array(repeating: 0, count: 10)), .grpc, .request).message.count == 10)
    #expect(throws: RPCError.self) { try read(envelope(0, Array(repeating: 0, count: 11)), .grpc, .request) }
  }

  @Test(arguments: [EnvelopeDialect.connect, .grpc, .grpcWeb])
  func eachCutIsAFault(dialect: EnvelopeDialect) throws {
    let end = dialect == .grpc ? [] : envelope(dialect.endFlag, [9, 9])
    let body = envelope(0, [1, 2, 3]) + end
    _ = try read(body, dialect)
    for count in 1..<body.count where dialect == .grpc || count != 8 {
      #expect(throws: RPCError.self) { try read(Array(body.prefix(count)), dialect) }
    }
  }

  @Test func aMissingEnd() throws {
    #expect(throws: RPCError.self) { try read(envelope(0, [1])) }
    #expect(throws: RPCError.self) { try read([]) }
    #expect(try read([], needsEnd: false).end == nil)
    #expect(try read(envelope(0, [1]), .grpc).end == nil)
  }

  @Test func whatMustNotBe() {
    // Bytes behind the end, flags that mean nothing, an end in a request, compression without a coding.
    #expect(throws: RPCError.self) { try read(envelope(0x80, []) + [0]) }
    #expect(throws: RPCError.self) { try read(envelope(0x80, []) + envelope(0, [1])) }
    #expect(throws: RPCError.self) { try read(envelope(4, [1]) + envelope(0x80, [])) }
    #expect(throws: RPCError.self) { try read(envelope(0x80, []), .grpcWeb, .request) }
    #expect(throws: RPCError.self) { try read(envelope(1, [1]), .grpc, hasCoding: false) }
  }

  @Test func whoseFaultItIs() {
    let caller = #expect(throws: RPCError.self) { try read([0, 0, 0], .grpc, .request) }
    #expect(caller?.code == .invalidArgument)
    let upstream = #expect(throws: RPCError.self) { try read([0, 0, 0], .grpc) }
    #expect(upstream?.code == .internal)
  }
}
