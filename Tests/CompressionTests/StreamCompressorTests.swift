import Bytes
import Testing

@testable import Compression

@Suite struct StreamCompressorTests {
  static let codings: [ContentCoding] = [.gzip, .br, .zstd]

  private static func plain(_ bytes: [UInt8], _ coding: ContentCoding) throws -> [UInt8] {
    var output = ByteBuffer()
    try Decompressor.decompress(bytes.span, as: coding, limit: 1 << 22, into: &output)
    return output.withSpan { span in span.indices.map { span[$0] } }
  }

  private static func taken(_ buffer: inout ByteBuffer) -> [UInt8] {
    let bytes = buffer.withSpan { span in span.indices.map { span[$0] } }
    buffer.removeAll()
    return bytes
  }

  @Test(arguments: codings, [StreamCompressor.Flush.none, .piece])
  func piecesMakeAWhole(coding: ContentCoding, flush: StreamCompressor.Flush) throws {
    let compressor = try #require(StreamCompressor(coding))
    var state: UInt32 = 7
    let text = (0..<300_000).map { _ -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(ascii: "a") + UInt8(state >> 24) % 20
    }
    var output = ByteBuffer()
    var made: [UInt8] = []
    var at = 0
    for size in [0, 1, 7, 1000, 64 << 10, 150_000, 300_000] {
      let piece = Array(text[at..<min(text.count, at + size)])
      at += piece.count
      try compressor.compress(piece.span, flush, into: &output)
      made += Self.taken(&output)
    }
    try compressor.compress(Span(), .end, into: &output)
    made += Self.taken(&output)
    #expect(at == text.count)
    #expect(try Self.plain(made, coding) == text)
    #expect(made.count < text.count * 3 / 4)
  }

  /// What was flushed can be read before more comes: with the end of another stream of its own behind it, it is whole.
  @Test(arguments: codings)
  func aPieceIsThereWhenItIsSent(coding: ContentCoding) throws {
    let compressor = try #require(StreamCompressor(coding))
    var output = ByteBuffer()
    let event = Array("data: one\n\n".utf8)
    try compressor.compress(event.span, .piece, into: &output)
    let first = Self.taken(&output)
    // At least the letters themselves have left.
    #expect(first.count >= event.count / 2)
    try compressor.compress(Span(), .end, into: &output)
    let rest = Self.taken(&output)
    #expect(rest.count < 16)
    #expect(try Self.plain(first + rest, coding) == event)
  }

  @Test(arguments: codings) func nothingIsAWholeToo(coding: ContentCoding) throws {
    let compressor = try #require(StreamCompressor(coding))
    var output = ByteBuffer()
    try compressor.compress(Span(), .end, into: &output)
    let made = Self.taken(&output)
    #expect(!made.isEmpty)
    #expect(try Self.plain(made, coding) == [])
  }

  @Test func identityNeedsNone() { #expect(StreamCompressor(.identity) == nil) }
}
