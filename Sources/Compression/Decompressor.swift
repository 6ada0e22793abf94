package import Bytes

/// Decompresses whole bodies up to a limit.
package enum Decompressor {
  /// Appends the decompressed input; `identity` copies it. Empty input is empty in every coding (Connect sends so).
  ///
  /// A result of exactly the limit is allowed. Several gzip members or zstd frames in a row are one body; any other
  /// bytes behind the end are malformed. On an error nothing is appended. Work and memory stop at the limit: no more
  /// than the limit and one block are ever written, and the codings' windows are bounded (8 MiB zstd, 16 MiB brotli).
  ///
  /// - Parameter limit: bytes of the greatest result.
  package static func decompress(
    _ input: Span<UInt8>, as coding: ContentCoding, limit: Int, into output: inout ByteBuffer
  ) throws(CompressionError) {
    if input.isEmpty { return }
    if coding == .identity {
      if input.count > limit { throw .tooLarge(limit: limit) }
      output.append(input)
      return
    }
    var produced = BoundedOutput(limit: limit, expected: input.count.multipliedReportingOverflow(by: 4).partialValue)
    try input.withUnsafeBytes { source throws(CompressionError) in
      switch coding {
      case .identity: break
      case .gzip: try gunzip(source, into: &produced)
      case .br: try unbrotli(source, into: &produced)
      case .zstd: try unzstd(source, into: &produced)
      }
    }
    var result = produced.finish()
    output.take(from: &result)
  }
}
