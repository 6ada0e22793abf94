import Bytes

/// The content codings that are read and written (RFC 9110 section 8.4.1, RFC 7932, RFC 8878).
package enum ContentCoding: String, Sendable, CaseIterable {
  case identity
  case gzip
  case br
  case zstd

  /// The coding of this name in any case, `x-gzip` too; nil for any other.
  package init?(name: Span<UInt8>) {
    if ASCII.equalIgnoringCase(name, "gzip") || ASCII.equalIgnoringCase(name, "x-gzip") {
      self = .gzip
    } else if ASCII.equalIgnoringCase(name, "br") {
      self = .br
    } else if ASCII.equalIgnoringCase(name, "zstd") {
      self = .zstd
    } else if ASCII.equalIgnoringCase(name, "identity") {
      self = .identity
    } else {
      return nil
    }
  }
}

/// Why bytes could not be compressed or decompressed.
package enum CompressionError: Error, Equatable, Sendable {
  /// The input is not of its coding, cut short, or has bytes behind its end.
  case malformed(String)
  /// The decompressed form is greater than this many bytes.
  case tooLarge(limit: Int)
}
