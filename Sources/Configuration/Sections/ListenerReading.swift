import Diagnostics

extension RootReader {
  /// Each request is compared with all of them.
  private static let mostRanges = 256

  func listener(_ node: Node) -> ListenerConfiguration? {
    guard let map = MappingReader(node, Sections.listener, context) else { return nil }
    let tls = map[.tls].flatMap { listenerTLS($0) }
    let address = map.required(.address, Sections.listener, context, cure: "write `address: 127.0.0.1:8080`")
      .flatMap { context.socketAddress($0) }
    guard let address else { return nil }
    var result = ListenerConfiguration(address: address, tls: tls)
    context.read(map[.trusted], into: &result.trusted) { trusted($0) }
    context.read(map[.forwarded], into: &result.forwarded) { context.word($0, "a form of forwarded fields") }
    context.read(map[.proxyProtocol], into: &result.proxyProtocol) { context.word($0, "a use of the PROXY protocol") }
    if let node = map[.proxyProtocol], map[.trusted] == nil {
      context.error(
        node.position, "`proxy_protocol` without `trusted`: whoever connects could claim any address",
        cure: "name the proxies in front: `trusted: [10.0.0.0/8]`")
    }
    return result
  }

  private func trusted(_ node: Node) -> [AddressRange]? {
    guard let ranges = context.addressRanges(node) else { return nil }
    if ranges.count > Self.mostRanges {
      context.error(node.position, "more than \(Self.mostRanges) ranges of addresses", cure: "join neighbours")
      return nil
    }
    // All of IPv4 has 96 bits in front.
    if ranges.contains(where: { $0.bits == 0 || $0.bits == 96 && $0.low == 0xFFFF_0000_0000 && $0.high == 0 }) {
      context.warning(
        node.position, "everybody is trusted: any client can claim any address", cure: "name the proxies in front")
    }
    return ranges
  }
}
