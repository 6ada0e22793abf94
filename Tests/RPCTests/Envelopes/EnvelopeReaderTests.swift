import Bytes
import RPC
import Testing

@Suite("Envelopes")
struct EnvelopeReaderTests {
  /// What a reader saw, payload bytes of one envelope joined.
  private struct Message: Equatable {
    var flags: UInt8
    var payload: [UInt8]
  }

  private func envelope(_ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var buffer = ByteBuffer()
    EnvelopeHead(flags: flags, length: payload.count).write(into: &buffer)
    return buffer.bytes + payload
  }

  /// Feeds a stream in pieces.
  private func read(
    _ pieces: [ArraySlice<UInt8>], maximum: Int = 1_000, _ direction: EnvelopeReader.Direction = .response,
    dialect: EnvelopeDialect = .connect, hasCoding: Bool = true
  ) throws(RPCError) -> [Message] {
    var reader = EnvelopeReader(
      maximumMessage: maximum, dialect: dialect, direction: direction, hasCoding: hasCoding)
    var input = ByteBuffer()
    var messages: [Message] = []
    var open: Message?
    for piece in pieces {
      input.append(Array(piece))
      var isWaiting = false
      while !isWaiting {
        switch try reader.next(&input) {
        case .needsMore: isWaiting = true
        case .head(let head): open = Message(flags: head.flags, payload: [])
        case .data(let count):
          open?.payload += input.bytes.prefix(count)
          input.consume(count)
        case .end:
          if let done = open { messages.append(done) }
          open = nil
        }
      }
    }
    try reader.inputClosed(leftover: input.count)
    #expect(reader.messages == messages.count - (reader.hasEnded ? 1 : 0))
    return messages
  }

  private var stream: [UInt8] {
    envelope(0, [1, 2, 3]) + envelope(0, []) + envelope(1, Array(repeating: 7, count: 300)) + envelope(2, bytes("{}"))
  }

  private var expected: [Message] {
    [
      Message(flags: 0, payload: [1, 2, 3]), Message(flags: 0, payload: []),
      Message(flags: 1, payload: Array(repeating: 7, count: 300)), Message(flags: 2, payload: bytes("{}")),
    ]
  }

  @Test func headIsBigEndian() {
    #expect(envelope(1, Array(repeating: 0, count: 0x0102)).prefix(5) == [1, 0, 0, 1, 2])
  }

  @Test func everyCutInTwo() throws {
    for cut in 0...stream.count {
      #expect(try read([stream[..<cut], stream[cut...]]) == expected)
    }
  }

  @Test func byteByByte() throws {
    #expect(try read(stream.indices.map { stream[$0...$0] }) == expected)
  }

  @Test func everyTruncationIsAnError() {
    for end in 0..<stream.count {
      #expect(refusal { () throws(RPCError) in try read([stream[..<end]]) }?.code == .internal)
    }
  }

  @Test func requestsNeedNoEndAndMayCarryNone() throws {
    #expect(try read([envelope(0, [5])[...]], .request) == [Message(flags: 0, payload: [5])])
    #expect(try read([], .request) == [])
    #expect(refusal { () throws(RPCError) in try read([envelope(2, [])[...]], .request) }?.code == .invalidArgument)
    #expect(refusal { () throws(RPCError) in try read([[0, 0]], .request) }?.code == .invalidArgument)
  }

  @Test func unknownFlagsAreRefused() {
    for flag: UInt8 in [4, 8, 0x80, 0xFF] {
      #expect(refusal { () throws(RPCError) in try read([envelope(flag, [])[...]]) }?.code == .internal)
    }
  }

  @Test func nothingFollowsTheEnd() {
    let more = envelope(2, bytes("{}")) + [0]
    #expect(refusal { () throws(RPCError) in try read([more[...]]) }?.code == .internal)
  }

  @Test func limitIsInclusive() throws {
    let exact = envelope(0, Array(repeating: 1, count: 10)) + envelope(2, [])
    #expect(try read([exact[...]], maximum: 10).count == 2)
    let over = envelope(0, Array(repeating: 1, count: 11))
    #expect(refusal { () throws(RPCError) in try read([over[...]], maximum: 10) }?.code == .resourceExhausted)
    let huge: [UInt8] = [0, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(refusal { () throws(RPCError) in try read([huge[...]]) }?.code == .resourceExhausted)
  }

  /// What a reader refuses, nil when it takes all.
  private func code(
    _ stream: [UInt8], _ direction: EnvelopeReader.Direction, _ dialect: EnvelopeDialect, hasCoding: Bool = true
  ) -> Code? {
    do throws(RPCError) {
      _ = try read([stream[...]], direction, dialect: dialect, hasCoding: hasCoding)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func flagsOfEachDialect() {
    for flags in UInt8.min...UInt8.max {
      let stream = envelope(flags, [1])
      let isMessage = flags < 2
      #expect(code(stream, .request, .connect) == (isMessage ? nil : .invalidArgument))
      #expect(code(stream, .request, .grpc) == (isMessage ? nil : .internal))
      #expect(code(stream, .request, .grpcWeb) == (isMessage ? nil : .internal))
      #expect(code(stream, .response, .grpc) == (isMessage ? nil : .internal))
      // The others lack their end.
      #expect(code(stream, .response, .connect) == ([2, 3].contains(flags) ? nil : .internal))
      #expect(code(stream, .response, .grpcWeb) == ([0x80, 0x81].contains(flags) ? nil : .internal))
    }
  }

  @Test func compressionThatNobodyNamed() {
    for dialect in [EnvelopeDialect.connect, .grpc, .grpcWeb] {
      for direction in [EnvelopeReader.Direction.request, .response] {
        #expect(code(envelope(1, [1]), direction, dialect, hasCoding: false) == .internal)
      }
      let end = dialect == .grpc ? [] : envelope(dialect.endFlag, [])
      #expect(code(envelope(0, [1]) + end, .response, dialect, hasCoding: false) == nil)
    }
  }

  @Test func gRPCWebEndsWithTrailers() throws {
    let trailers = bytes("grpc-status: 0\r\n")
    let stream = envelope(0, [1, 2]) + envelope(0x80, trailers)
    for cut in 0...stream.count {
      let messages = try read([stream[..<cut], stream[cut...]], dialect: .grpcWeb)
      #expect(messages == [Message(flags: 0, payload: [1, 2]), Message(flags: 0x80, payload: trailers)])
    }
    for end in 0..<stream.count {
      #expect(code(Array(stream[..<end]), .response, .grpcWeb) == .internal)
    }
    #expect(code(stream + envelope(0, []), .response, .grpcWeb) == .internal)
  }

  @Test func truncatedGRPC() {
    let stream = envelope(0, [1, 2])
    for end in 1..<stream.count {
      #expect(code(Array(stream[..<end]), .response, .grpc) == .internal)
      #expect(code(Array(stream[..<end]), .request, .grpc) == .invalidArgument)
    }
    #expect(code([], .response, .grpc) == nil)
  }

  @Test func endsHaveALimitOfTheirOwn() throws {
    let long = Array(repeating: UInt8(ascii: " "), count: EnvelopeReader.maximumEnd)
    #expect(try read([envelope(2, long)[...]], maximum: 10).count == 1)
    #expect(code(envelope(2, long + [32]), .response, .connect) == .internal)
    #expect(code(envelope(0x80, long + [32]), .response, .grpcWeb) == .internal)
  }

  @Test func openedAndClosed() {
    let written = text { output in
      output.append("before")
      let offset = EnvelopeHead.open(&output)
      output.append("payload")
      EnvelopeHead.close(&output, openedAt: offset, flags: 1)
    }
    #expect(written == "before\u{1}\0\0\0\u{7}payload")
  }
}
