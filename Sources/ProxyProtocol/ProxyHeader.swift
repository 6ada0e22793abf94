/// What a proxy says of a connection before its first byte (the PROXY protocol, versions 1 and 2).
///
/// <https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt>
package struct ProxyHeader: Equatable, Sendable {
  /// One end of the client's connection to the proxy.
  package struct Endpoint: Equatable, Sendable {
    /// In network order: 4, of IPv6 16.
    package var address: [UInt8]
    package var port: UInt16

    package init(address: [UInt8], port: UInt16) {
      self.address = address
      self.port = port
    }
  }

  /// Whose connection it is.
  package enum Origin: Equatable, Sendable {
    /// The proxy's own (a health check), or one whose addresses it does not tell.
    case proxy
    case client(source: Endpoint, destination: Endpoint)
  }

  package var origin: Origin
  /// Bytes of the header, all of its extensions included.
  package var length: Int

  package init(origin: Origin, length: Int) {
    self.origin = origin
    self.length = length
  }

  /// What the first bytes of a connection are.
  package enum Outcome: Equatable, Sendable {
    /// May become a header: so many bytes are needed to go on, more than there are.
    case needsMore(Int)
    /// The connection begins with something else.
    case absent
    case header(ProxyHeader)
    /// Begins as a header and is none.
    case malformed(String)
  }

  /// Bytes of the longest header that is read: extensions can hold a certificate.
  package static let maximumLength = 16 << 10

  /// Reads the beginning of a connection; asked anew with all that has come when there is more.
  package static func read(_ bytes: Span<UInt8>) -> Outcome {
    if bytes.isEmpty { return .needsMore(1) }
    return bytes[0] == BinaryHeader.signature[0] ? BinaryHeader.read(bytes) : TextHeader.read(bytes)
  }
}
