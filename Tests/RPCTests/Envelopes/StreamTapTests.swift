import Bytes
import HTTPModel
import RPC
import Testing

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

  @Test func trailersOfGRPCWeb() {
    let stream =
      envelope(0, "first") + envelope(1, "second")
      + envelope(0x80, "grpc-status: 10\r\ngrpc-message: not%20now\r\n")
    for cut in 0...stream.count {
      var tap = StreamTap(dialect: .grpcWeb)
      tap.observe(Array(stream[..<cut]).span)
      #expect(!tap.isComplete || cut == stream.count)
      tap.observe(Array(stream[cut...]).span)
      tap.ended()
      #expect(tap.messages == 2)
      #expect(tap.error?.code == .aborted)
      #expect(tap.error?.message == "not now")
    }
  }

  @Test(arguments: [
    ("grpc-status: 0", nil), ("grpc-message: x\r\n", Code.unknown), ("", .unknown), ("no field", .internal),
  ])
  func endsOfGRPCWeb(trailers: String, expected: Code?) {
    var tap = StreamTap(dialect: .grpcWeb)
    tap.observe(envelope(0x80, trailers).span)
    tap.ended()
    #expect(tap.isComplete)
    #expect(tap.error?.code == expected)
  }

  @Test func gRPCEndsInItsTrailers() {
    var tap = StreamTap(dialect: .grpc)
    #expect(tap.isComplete)
    let stream = envelope(0, "first") + envelope(1, "second")
    for (index, byte) in stream.enumerated() {
      tap.observe([byte].span)
      #expect(tap.isComplete == [9, 20].contains(index))
    }
    tap.ended()
    #expect(tap.error == nil)
    #expect(tap.messages == 2)
    for flags: UInt8 in [2, 0x80] {
      var tap = StreamTap(dialect: .grpc)
      tap.observe(envelope(flags, "").span)
      #expect(tap.error?.code == .internal)
    }
  }
}
