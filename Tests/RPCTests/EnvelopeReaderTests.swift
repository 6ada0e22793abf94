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
    _ pieces: [ArraySlice<UInt8>], maximum: Int = 1_000, _ direction: EnvelopeReader.Direction = .response
  ) throws(RPCError) -> [Message] {
    var reader = EnvelopeReader(maximumMessage: maximum, direction: direction)
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
}

@Suite("Tap of a passing stream")
struct StreamTapTests {
  private func envelope(_ flags: UInt8, _ payload: String) -> [UInt8] {
    let payload = bytes(payload)
    return [flags, 0, 0, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
  }

  private func tap(_ pieces: [ArraySlice<UInt8>], maximumEnd: Int = 65_536) -> StreamTap {
    var tap = StreamTap(maximumEnd: maximumEnd)
    for piece in pieces { tap.observe(Array(piece).span) }
    tap.ended()
    return tap
  }

  private var failed: [UInt8] {
    envelope(0, "first") + envelope(0, "") + envelope(1, String(repeating: "x", count: 400))
      + envelope(2, #"{"error":{"code":"data_loss","message":"half"}}"#)
  }

  @Test func everyCutInTwo() {
    for cut in 0...failed.count {
      let tap = tap([failed[..<cut], failed[cut...]])
      #expect(tap.messages == 3)
      #expect(tap.error?.code == .dataLoss)
      #expect(tap.error?.message == "half")
    }
  }

  @Test func byteByByte() {
    let tap = tap(failed.indices.map { failed[$0...$0] })
    #expect(tap.messages == 3)
    #expect(tap.error?.code == .dataLoss)
  }

  @Test func success() {
    let tap = tap([(envelope(0, "m") + envelope(2, "{}"))[...]])
    #expect(tap.messages == 1)
    #expect(tap.error == nil)
    #expect(!tap.isEndUnreadable)
  }

  @Test func everyTruncationIsAnError() {
    for end in 0..<failed.count {
      #expect(tap([failed[..<end]]).error?.code == .internal)
    }
  }

  @Test func emptyEndIsMalformed() {
    #expect(tap([envelope(2, "")[...]]).error?.code == .internal)
  }

  @Test func wrongFlagsAndBytesBehindTheEnd() {
    #expect(tap([envelope(4, "x")[...]]).error?.code == .internal)
    #expect(tap([(envelope(2, "{}") + [0])[...]]).error?.code == .internal)
    // The end's own error stays when bytes follow it.
    #expect(tap([(failed + [0])[...]]).error?.code == .dataLoss)
  }

  @Test func longEndIsNotKept() {
    let end = envelope(2, #"{"error":{"code":"aborted"},"pad":"\#(String(repeating: "x", count: 100))"}"#)
    let tap = tap([(envelope(0, "m") + end)[...]], maximumEnd: 64)
    #expect(tap.isEndUnreadable)
    #expect(tap.error == nil)
    #expect(tap.messages == 1)
  }

  @Test func compressedEnds() {
    let end = envelope(3, "squeezed")
    #expect(tap([end[...]]).isEndUnreadable)
    var seen: [UInt8] = []
    var tap = StreamTap(decompress: { compressed, output in
      seen = compressed.indices.map { compressed[$0] }
      output.append(#"{"error":{"code":"aborted"}}"#)
      return true
    })
    tap.observe(end.span)
    tap.ended()
    #expect(seen == bytes("squeezed"))
    #expect(tap.error?.code == .aborted)
    var broken = StreamTap(decompress: { _, _ in false })
    broken.observe(end.span)
    broken.ended()
    #expect(broken.isEndUnreadable)
    #expect(broken.error == nil)
  }
}
