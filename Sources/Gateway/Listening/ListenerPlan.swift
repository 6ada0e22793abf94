import Configuration
import EventLoops
import Synchronization

/// How the connections of one listener are taken, as a snapshot has it: whose word on their clients counts, and what
/// upstreams are told. A connection keeps the plan that it began with.
final class ListenerPlan: Sendable {
  let forwarded: ListenerConfiguration.Forwarded
  let proxyProtocol: ListenerConfiguration.ProxyProtocol?
  /// Whether clients speak TLS to it.
  let isSecure: Bool
  private let trusted: [AddressRange]
  /// Whether it was said already that fields of a client were replaced.
  private let hasWarned = Atomic<Bool>(false)

  init(_ configuration: ListenerConfiguration) {
    forwarded = configuration.forwarded
    proxyProtocol = configuration.proxyProtocol
    isSecure = configuration.tls != nil
    trusted = configuration.trusted
  }

  var trustsNobody: Bool { trusted.isEmpty }

  /// Whether what an address says of its clients is believed.
  func trusts(_ address: SocketAddress) -> Bool {
    let (high, low) = address.bits
    for range in trusted where range.contains(high: high, low: low) { return true }
    return false
  }

  /// True once.
  func warnsNow() -> Bool { !hasWarned.load(ordering: .relaxed) && !hasWarned.exchange(true, ordering: .relaxed) }
}

/// Where a client's connection came from, and where it came in. An object, for each request looks at it: to hold it is to
/// count once, not once for each of its parts.
final class ConnectionOrigin {
  /// The client's, or that of the proxy next to the gateway: as the socket has it, or as the PROXY protocol told it.
  let address: SocketAddress
  let plan: ListenerPlan
  /// The address as forwarded fields have it; empty when none are written.
  let text: [UInt8]
  /// The port that the client connected to, in the same way.
  let portText: [UInt8]

  /// - Parameter port: The one that the client connected to.
  init(address: SocketAddress, port: UInt16, plan: ListenerPlan) {
    self.address = address
    self.plan = plan
    let isTold = plan.forwarded != .off
    text = isTold ? Array(address.host.utf8) : []
    portText = isTold ? Array("\(port)".utf8) : []
  }
}
