import Bytes
import Compression

/// Around block sizes, window sizes and powers of two.
let sampleSizes = [0, 1, 2, 255, 256, 257, 511, 4_096, 65_535, 65_536, 65_537, 300_000]

/// Compressible, but not one run.
func text(_ count: Int) -> [UInt8] {
  var result: [UInt8] = []
  result.reserveCapacity(count + 64)
  var item = 0
  while result.count < count {
    result += "{\"id\":\"item-\(item)\",\"price\":\(item * 37 % 1_000)},".utf8
    item += 1
  }
  return Array(result.prefix(count))
}

/// Not compressible, the same each time.
func noise(_ count: Int) -> [UInt8] {
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state)
  }
}

func compress(_ input: [UInt8], _ coding: ContentCoding) throws(CompressionError) -> [UInt8] {
  var output = ByteBuffer()
  try Compressor.compress(input.span, as: coding, into: &output)
  return output.bytes
}

func decompress(_ input: [UInt8], _ coding: ContentCoding, limit: Int) throws(CompressionError) -> [UInt8] {
  var output = ByteBuffer()
  try Decompressor.decompress(input.span, as: coding, limit: limit, into: &output)
  return output.bytes
}

/// Four times one sentence, compressed by other programs.
enum Fixtures {
  static let plain = Array(String(repeating: "the quick brown fox jumps over the lazy dog. ", count: 4).utf8)
  static let gzip = "H4sIAAAAAAACAyvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp+uBeYNAMQDR4klotAAAAA=="
  static let zstd = "KLUv/SS0tQEA1AJ0aGUgcXVpY2sgYnJvd24gZm94IGp1bXBzIG92ZXIgdGhlIGxhenkgZG9nLiABACVASpUBw0G7gA=="
  static let brotli =
    "G7MAiIyUbuYi0IOlupBeExSNgHxDC4MNOHBIIG8ku0GnFc5mx+NEhaVgI5yg+sOkwA=="
  static let zstdWithWindowOf128MiB =
    "KLUv/QSIvQEAxAJ0aGUgcXVpY2sgYnJvd24gZm94IGp1bXBzIG92ZXIgdGhlIGxhenkgZG9nLgIAAKgIMNpZBsNBu4A="
  static let brotliWithLargeWindow =
    "EVzMAiAyUrqZi0APlupCek1QNALyDS0MNuDAIYG8kewGcWIFDpsdjxMVloKNcILqD5MCAw=="

  static func bytes(_ base64: String) -> [UInt8] {
    var decoded = ByteBuffer()
    return Base64.decode(Array(base64.utf8).span, into: &decoded) ? decoded.bytes : []
  }
}
