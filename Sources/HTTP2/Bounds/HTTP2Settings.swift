/// What one side of a connection tells the other, and what it keeps to itself to be safe from it.
package struct HTTP2Settings: Equatable, Sendable {
  /// Streams that the peer may have open at the same time.
  package var maximumConcurrentStreams = 128
  /// Bytes that may be under way on one stream, and so the most that is held of one that is not forwarded.
  package var streamWindow = 256 << 10
  /// Bytes that may be under way on all streams together. Returned on receipt, so no stream waits for another.
  package var connectionWindow = 1 << 20
  /// Bytes of a field section, names, values and 32 for each field (RFC 9113 section 6.5.2).
  package var maximumFieldBytes = 32 << 10
  package var maximumFields = 128
  /// Bytes of `:path`.
  package var maximumTarget = 8 << 10
  package var bounds = HTTP2Bounds()

  package init() {}
}
