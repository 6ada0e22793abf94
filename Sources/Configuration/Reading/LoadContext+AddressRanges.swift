import Diagnostics
import Glibc

extension LoadContext {
  /// One range or a list of them: `10.0.0.0/8`, `2001:db8::/32`, `192.0.2.7`.
  func addressRanges(_ node: Node) -> [AddressRange]? {
    var nodes = [node]
    if case .sequence(let elements) = node.content { nodes = elements }
    if nodes.isEmpty {
      error(node.position, "no addresses are given", cure: "write them as `10.0.0.0/8` or `2001:db8::/32`")
      return nil
    }
    var ranges: [AddressRange] = []
    for node in nodes {
      guard let range = addressRange(node) else { return nil }
      ranges.append(range)
    }
    return ranges
  }

  private func addressRange(_ node: Node) -> AddressRange? {
    guard let text = name(node, "a range of addresses") else { return nil }
    guard let (address, bits) = Self.parse(text.value) else {
      error(
        node.position, "\(text.shown) is no range of addresses",
        cure: "write an address and how many of its first bits count, as `10.0.0.0/8` or `2001:db8::/32`")
      return nil
    }
    let range = AddressRange(high: address.high, low: address.low, bits: bits)
    if (range.high, range.low) != (address.high, address.low) {
      error(
        node.position, "\(text.shown) has bits behind those that count",
        cure: "write the first address of the range, or more bits")
      return nil
    }
    return range
  }

  /// An address as 128 bits, and how many of them count.
  private static func parse(_ text: String) -> (address: (high: UInt64, low: UInt64), bits: Int)? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let host = parts.first, parts.count <= 2 else { return nil }
    let suffix = parts.count == 2 ? Quantity.integer(String(parts[1])) : nil
    if parts.count == 2, suffix == nil { return nil }
    var four = in_addr()
    if inet_pton(AF_INET, String(host), &four) == 1 {
      guard (0...32).contains(suffix ?? 32) else { return nil }
      return ((0, 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: four.s_addr))), 96 + (suffix ?? 32))
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, String(host), &six) == 1, (0...128).contains(suffix ?? 128) else { return nil }
    let halves = withUnsafeBytes(of: six) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    return (halves, suffix ?? 128)
  }
}
