import EventLoops
import Metrics

/// One address that clients connect to: the shared descriptor, and what is counted for it.
final class ListenerState: Sendable {
  let socket: ListeningSocket
  let connections: Gauge
  let http2Connections: Gauge

  init(socket: ListeningSocket, metrics: GatewayMetrics) {
    self.socket = socket
    connections = metrics.connections.child([socket.address.text, "http1"])
    http2Connections = metrics.connections.child([socket.address.text, "http2"])
  }
}
