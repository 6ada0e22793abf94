/// The bytes that a client begins an HTTP/2 connection with (RFC 9113 section 3.4): no HTTP/1.1 request.
package enum Preface {
  package static let bytes: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

  package enum Match: Sendable {
    case http2
    case other
    /// All that came belongs to the preface; more is needed.
    case undecided
  }

  /// Compares the first bytes of a connection.
  package static func match(_ input: Span<UInt8>) -> Match {
    let count = Swift.min(input.count, bytes.utf8CodeUnitCount)
    for index in 0..<count where unsafe bytes.utf8Start[index] != input[index] { return .other }
    return count == bytes.utf8CodeUnitCount ? .http2 : .undecided
  }
}
