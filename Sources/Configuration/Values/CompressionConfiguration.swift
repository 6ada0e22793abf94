/// `compression:`, how answers to REST callers are compressed as they accept it.
package struct CompressionConfiguration: Sendable, Equatable {
  package enum Algorithm: String, Sendable, CaseIterable {
    case gzip
    case br
    case zstd
  }

  /// Whether translated answers are (Default: on).
  package var isOn = true
  /// Bytes below which it is not worth it (Default: 1KiB).
  package var minimumSize = 1024
  /// What is written; of equally welcome ones the first (Default: gzip, br, zstd).
  package var algorithms: [Algorithm] = Algorithm.allCases
  /// Media types, in lower case; `*` for any characters.
  package var types = [
    "application/json", "application/*+json", "application/x-ndjson", "application/*protobuf", "application/xml",
    "application/javascript", "text/*",
  ]
  /// Whether answers that pass as they are are, too (Default: false).
  package var passThrough = false

  package init() {}
}
