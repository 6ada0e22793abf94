extension SocketAddress {
  /// An address from its bytes in network order.
  ///
  /// - Returns: nil unless there are 4 or 16.
  public init?(bytes: [UInt8], port: UInt16) {
    switch bytes.count {
    case 4: self.init(.v4(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }), port: port)
    case 16:
      let (high, low) = bytes.withUnsafeBytes {
        ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      }
      self.init(.v6(high, low, scope: 0), port: port)
    default: return nil
    }
  }

  /// The IPv4 address that a socket for both families gives as IPv6 (`::ffff:192.0.2.1`); any other as it is.
  public var unmapped: SocketAddress {
    guard case .v6(0, let low, _) = address, UInt64(bigEndian: low) >> 32 == 0xFFFF else { return self }
    return SocketAddress(.v4(UInt32(truncatingIfNeeded: UInt64(bigEndian: low)).bigEndian), port: port)
  }
}
