import Bytes
import Testing

@testable import Compression

@Suite struct StreamDecompressorTests {
  static let codings: [ContentCoding] = [.gzip, .br, .zstd]

  private static func packed(_ bytes: [UInt8], _ coding: ContentCoding) throws -> [UInt8] {
    let compressor = try #require(StreamCompressor(coding))
    var output = ByteBuffer()
    try compressor.compress(bytes.span, .end, into: &output)
    return output.bytes
  }

  /// The text of input in pieces; what is wrong with it as the last word.
  private static func read(_ bytes: [UInt8], _ coding: ContentCoding, piece: Int, limit: Int = 1000) throws -> [UInt8] {
    let decompressor = try #require(StreamDecompressor(coding))
    var input = ByteBuffer()
    var output = ByteBuffer()
    for at in stride(from: 0, to: bytes.count, by: piece) {
      input.append(Array(bytes[at..<min(bytes.count, at + piece)]))
      var isFull = true
      while isFull {
        let before = output.count
        isFull = try decompressor.decompress(&input, limit: limit, into: &output)
        #expect(output.count - before <= limit)
        if isFull { #expect(output.count - before == limit) }
      }
      #expect(input.count == 0)
    }
    try decompressor.finish()
    return output.bytes
  }

  private static let text = (0..<20_000).flatMap { Array("line \($0 % 321)\n".utf8) }

  @Test(arguments: codings, [1, 7, 1000, 1 << 20])
  func pieces(coding: ContentCoding, piece: Int) throws {
    let text = piece == 1 ? Array(Self.text.prefix(20_000)) : Self.text
    #expect(try Self.read(Self.packed(text, coding), coding, piece: piece) == text)
    #expect(try Self.read(Self.packed([], coding), coding, piece: piece) == [])
    #expect(try Self.read([], coding, piece: piece) == [])
  }

  @Test(arguments: [ContentCoding.gzip, .zstd])
  func severalInARow(coding: ContentCoding) throws {
    let one = try Self.packed(Array("one".utf8), coding)
    let all = try one + Self.packed([], coding) + Self.packed(Array("two".utf8), coding)
    for piece in [1, 5, 1000] {
      #expect(try Self.read(all, coding, piece: piece) == Array("onetwo".utf8))
    }
  }

  @Test(arguments: codings)
  func whatIsWrong(coding: ContentCoding) throws {
    let packed = try Self.packed(Self.text, coding)
    for piece in [1, 1000] {
      for bad in [Array(packed.dropLast()), Array(packed.prefix(20)), packed + [7], Array("no such thing".utf8)] {
        #expect(throws: CompressionError.self) { try Self.read(bad, coding, piece: piece) }
      }
    }
  }

  /// What was flushed is there before more comes.
  @Test(arguments: codings)
  func aPieceIsThereAtOnce(coding: ContentCoding) throws {
    let compressor = try #require(StreamCompressor(coding))
    let decompressor = try #require(StreamDecompressor(coding))
    for word in ["one", "two"] {
      var input = ByteBuffer()
      var output = ByteBuffer()
      try compressor.compress(Array(word.utf8).span, .piece, into: &input)
      let isFull = try decompressor.decompress(&input, limit: 100, into: &output)
      #expect(!isFull)
      #expect(output.bytes == Array(word.utf8))
      #expect(throws: CompressionError.self) { try decompressor.finish() }
    }
  }

  /// A small piece of input cannot become much output at once.
  @Test(arguments: codings)
  func bombs(coding: ContentCoding) throws {
    let packed = try Self.packed([UInt8](repeating: 0, count: 10 << 20), coding)
    let decompressor = try #require(StreamDecompressor(coding))
    var input = ByteBuffer(packed)
    var output = ByteBuffer()
    for _ in 0..<10 {
      let isFull = try decompressor.decompress(&input, limit: 1 << 16, into: &output)
      #expect(isFull)
      #expect(output.count == 1 << 16)
      output.removeAll()
    }
  }

  /// For brotli and zstd it is what the sender's window takes once there is so much: nobody else counts it.
  @Test(arguments: [(ContentCoding.gzip, 32 << 10, 64 << 10), (.br, 256 << 10, 1 << 20), (.zstd, 512 << 10, 12 << 20)])
  func whatTheDecoderHoldsIsKnown(coding: ContentCoding, least: Int, most: Int) throws {
    var plain = ByteBuffer()
    var state: UInt64 = 1
    for _ in 0..<(3 << 20) / 8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      withUnsafeBytes(of: state) { bytes in for byte in bytes { plain.append(byte) } }
    }
    var packed = ByteBuffer()
    let compressor = try #require(StreamCompressor(coding))
    try compressor.compress(plain.span, .end, into: &packed)
    let decompressor = try #require(StreamDecompressor(coding))
    let atFirst = decompressor.memory
    var output = ByteBuffer()
    while try decompressor.decompress(&packed, limit: 64 << 10, into: &output) { output.removeAll() }
    try decompressor.finish()
    #expect((least...most).contains(decompressor.memory))
    if coding != .gzip { #expect(atFirst < decompressor.memory) }
  }

  @Test func identityNeedsNone() { #expect(StreamDecompressor(.identity) == nil) }
}
