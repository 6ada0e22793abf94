import Glibc

/// An IP address and a port.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  enum Host: Hashable {
    /// In network order, as the kernel has it.
    case v4(UInt32)
    /// The two halves of the 16 bytes, as they lie in memory, and the scope of a link-local address.
    case v6(UInt64, UInt64, scope: UInt32)
  }

  let address: Host
  public var port: UInt16

  init(_ address: Host, port: UInt16) {
    self.address = address
    self.port = port
  }

  /// An address from its literal: `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]`, `fe80::1%eth0`; nil for anything else.
  public init?(host: String, port: UInt16) {
    self.port = port
    // The library would stop reading there.
    if host.utf8.contains(0) { return nil }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 {
      address = .v4(four.s_addr)
      return
    }
    var literal = host[...]
    if literal.hasPrefix("["), literal.hasSuffix("]") { literal = literal.dropFirst().dropLast() }
    var scope: UInt32 = 0
    if let percent = literal.firstIndex(of: "%") {
      let zone = String(literal[literal.index(after: percent)...])
      scope = UInt32(zone) ?? if_nametoindex(zone)
      if scope == 0 { return nil }
      literal = literal[..<percent]
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, String(literal), &six) == 1 else { return nil }
    address = Self.host(six, scope: scope)
  }

  static func host(_ six: in6_addr, scope: UInt32) -> Host {
    withUnsafeBytes(of: six) { bytes in
      .v6(
        bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self), scope: scope)
    }
  }

  /// What one site owns: the address without a port, of IPv6 the network of 64 bits.
  public var network: SocketAddress {
    switch address {
    case .v4: SocketAddress(address, port: 0)
    case .v6(let high, _, let scope): SocketAddress(.v6(high, 0, scope: scope), port: 0)
    }
  }

  /// The address as 128 bits, of IPv4 as `::ffff:a.b.c.d`: for ranges of addresses.
  public var bits: (high: UInt64, low: UInt64) {
    switch address {
    case .v4(let four): (0, 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: four)))
    case .v6(let high, let low, _): (UInt64(bigEndian: high), UInt64(bigEndian: low))
    }
  }

  public var isIPv6: Bool {
    if case .v6 = address { true } else { false }
  }

  /// Whether the address is this machine's own and reachable from nowhere else (127/8, ::1).
  public var isLoopback: Bool {
    switch address {
    case .v4(let four): UInt32(bigEndian: four) >> 24 == 127
    case .v6(let high, let low, _): high == 0 && UInt64(bigEndian: low) == 1
    }
  }

  /// The address without the port, IPv6 without brackets.
  public var host: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      guard let start = text.baseAddress else { return "" }
      switch address {
      case .v4(let four):
        var four = in_addr(s_addr: four)
        guard inet_ntop(AF_INET, &four, start, socklen_t(text.count)) != nil else { return "" }
        return String(cString: start)
      case .v6(let high, let low, let scope):
        var six = (high, low)
        guard inet_ntop(AF_INET6, &six, start, socklen_t(text.count)) != nil else { return "" }
        return scope == 0 ? String(cString: start) : "\(String(cString: start))%\(scope)"
      }
    }
  }

  /// `192.0.2.1:80` or `[2001:db8::1]:80`.
  public var text: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
  public var description: String { text }
}
