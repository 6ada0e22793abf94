import EventLoops
import Metrics

/// One address that clients connect to: the shared descriptor, and what is counted for it.
final class ListenerState: Sendable {
  let socket: ListeningSocket
  let connections: Gauge

  init(socket: ListeningSocket, metrics: GatewayMetrics) {
    self.socket = socket
    connections = metrics.connections.child([socket.address.text, "http1"])
  }
}
