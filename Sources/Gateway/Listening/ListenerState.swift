import Configuration
import EventLoops
import Glibc
import Metrics

/// One address that clients connect to: the shared descriptor, and what is counted for it.
final class ListenerState: Sendable {
  let socket: ListeningSocket
  /// The address as the configuration gives it.
  let configured: SocketAddressConfiguration
  let connections: Gauge
  let http2Connections: Gauge

  init(socket: ListeningSocket, configured: SocketAddressConfiguration, metrics: GatewayMetrics) {
    self.socket = socket
    self.configured = configured
    connections = metrics.connections.open.child([socket.address.text, "http1"])
    http2Connections = metrics.connections.open.child([socket.address.text, "http2"])
  }
}

extension SocketAddress {
  /// An address of the configuration; it was validated there, and is a literal.
  init(_ configured: SocketAddressConfiguration) throws(SystemError) {
    guard let address = SocketAddress(host: configured.host, port: configured.port) else {
      throw SystemError(call: "inet_pton", code: EINVAL)
    }
    self = address
  }
}
