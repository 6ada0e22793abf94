import Bytes
import Compression
import Testing

@Suite("Compressing and decompressing")
struct CompressionTests {
  @Test(arguments: ContentCoding.allCases, sampleSizes)
  func roundTrip(coding: ContentCoding, size: Int) throws {
    for input in [text(size), noise(size), [UInt8](repeating: 0, count: size)] {
      let compressed = try compress(input, coding)
      #expect(try decompress(compressed, coding, limit: size) == input)
    }
  }

  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func textShrinks(coding: ContentCoding) throws {
    #expect(try compress(text(100_000), coding).count < 25_000)
  }

  @Test(arguments: ContentCoding.allCases)
  func bothAppend(coding: ContentCoding) throws {
    var compressed = ByteBuffer([1, 2])
    try Compressor.compress(text(500).span, as: coding, into: &compressed)
    #expect(compressed.bytes.prefix(2) == [1, 2])
    compressed.consume(2)
    var output = ByteBuffer([9])
    try Decompressor.decompress(compressed.span, as: coding, limit: 500, into: &output)
    #expect(output.bytes == [9] + text(500))
  }

  @Test(arguments: ContentCoding.allCases)
  func emptyInputIsEmptyInEveryCoding(coding: ContentCoding) throws {
    #expect(try decompress([], coding, limit: 0) == [])
  }

  /// Made by other programs: gzip and zstd of the command line, brotli of Node.
  @Test(arguments: [(ContentCoding.gzip, Fixtures.gzip), (.zstd, Fixtures.zstd), (.br, Fixtures.brotli)])
  func whatOthersCompressed(coding: ContentCoding, fixture: String) throws {
    #expect(try decompress(Fixtures.bytes(fixture), coding, limit: 1_000) == Fixtures.plain)
  }

  @Test(arguments: [ContentCoding.gzip, .zstd])
  func membersInARow(coding: ContentCoding) throws {
    let empty = try compress([], coding)
    let two = try compress(text(70_000), coding) + empty + compress(noise(300), coding) + empty
    #expect(try decompress(two, coding, limit: 70_300) == text(70_000) + noise(300))
    #expect(throws: CompressionError.tooLarge(limit: 70_299)) { try decompress(two, coding, limit: 70_299) }
  }
}

@Suite("Malformed and hostile input")
struct HostileCompressionTests {
  private func isMalformed(_ input: [UInt8], _ coding: ContentCoding, limit: Int = 100_000) -> Bool {
    do {
      _ = try decompress(input, coding, limit: limit)
      return false
    } catch CompressionError.malformed {
      return true
    } catch {
      return false
    }
  }

  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func everyTruncation(coding: ContentCoding) throws {
    let whole = try compress(text(2_000), coding)
    for end in 1..<whole.count { #expect(isMalformed(Array(whole[..<end]), coding)) }
  }

  @Test(arguments: [ContentCoding.gzip, .br, .zstd], [1, 2, 3, 4, 10, 100])
  func trailingGarbage(coding: ContentCoding, extra: Int) throws {
    let garbage = [UInt8](repeating: 0x55, count: extra)
    #expect(isMalformed(try compress(text(2_000), coding) + garbage, coding))
  }

  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func notOfTheCoding(coding: ContentCoding) {
    #expect(isMalformed(Array("{\"plain\":\"json\"}".utf8), coding))
    #expect(isMalformed([0xFF], coding))
  }

  @Test func gzipChecksItsSum() throws {
    var broken = try compress(text(2_000), .gzip)
    broken[broken.count - 6] ^= 1
    #expect(isMalformed(broken, .gzip))
  }

  /// Single flipped bits may go unseen by brotli, which has no sum; none may do more than give an error.
  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func everyFlippedBitIsContained(coding: ContentCoding) throws {
    let whole = try compress(text(300), coding)
    for index in whole.indices {
      for bit in 0..<8 {
        var broken = whole
        broken[index] ^= 1 << UInt8(bit)
        let result = try? decompress(broken, coding, limit: 1_000)
        #expect(result?.count ?? 0 <= 1_000)
      }
    }
  }

  @Test(arguments: ContentCoding.allCases)
  func limitIsInclusive(coding: ContentCoding) throws {
    for size in sampleSizes where size > 0 {
      let compressed = try compress(text(size), coding)
      #expect(try decompress(compressed, coding, limit: size) == text(size))
      #expect(throws: CompressionError.tooLarge(limit: size - 1)) {
        try decompress(compressed, coding, limit: size - 1)
      }
    }
  }

  /// 64 MiB of zeros in a few kilobytes: stopped at the limit, with no more memory than the limit and a block.
  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func bombs(coding: ContentCoding) throws {
    let bomb = try compress([UInt8](repeating: 0, count: 64 << 20), coding)
    #expect(bomb.count < 400_000)
    for limit in [0, 1, 1_000, 100_000, 1 << 20] {
      #expect(throws: CompressionError.tooLarge(limit: limit)) { try decompress(bomb, coding, limit: limit) }
    }
  }

  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func resultHoldsLittleMoreThanItsBytes(coding: ContentCoding) throws {
    for size in [10, 5_000, 200_000, 1_500_000] {
      let compressed = try compress(text(size), coding)
      var output = ByteBuffer()
      try Decompressor.decompress(compressed.span, as: coding, limit: size, into: &output)
      #expect(output.count == size)
      #expect(output.capacity <= size + 65_536)
    }
  }

  @Test(arguments: [ContentCoding.gzip, .br, .zstd])
  func outputIsUntouchedByAnError(coding: ContentCoding) throws {
    let compressed = try compress(text(200_000), coding)
    var output = ByteBuffer([1, 2, 3])
    #expect(throws: CompressionError.self) {
      try Decompressor.decompress(compressed.span, as: coding, limit: 150_000, into: &output)
    }
    #expect(output.bytes == [1, 2, 3])
  }

  @Test func windowsAreBounded() {
    #expect(isMalformed(Fixtures.bytes(Fixtures.zstdWithWindowOf128MiB), .zstd))
    #expect(isMalformed(Fixtures.bytes(Fixtures.brotliWithLargeWindow), .br))
  }
}
