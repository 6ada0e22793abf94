import HTTP1
import HTTP2
import Metrics

/// What is counted of connections, and of what comes over them that is no call.
struct ConnectionMetrics: Sendable {
  let open: GaugeFamily
  let limit: Gauge
  let acceptPauses: CounterFamily
  let proxyHeaders: CounterFamily
  let handshakes: CounterFamily
  let malformedRequests: CounterFamily
  let http2Faults: CounterFamily
  let slowRequests: Counter

  init(_ registry: MetricsRegistry) {
    open = registry.gauge(
      "turnout_connections", help: "Open client connections.", labels: ["listener", "protocol"])
    limit = registry.gauge(
      "turnout_connections_limit",
      help: "Client connections that there can be at a time: limits.connections, or what descriptors there are for.",
      labels: []
    ).child([])
    acceptPauses = registry.counter(
      "turnout_accept_pauses_total", help: "Moments in which no connection was accepted, by what had run out.",
      labels: ["reason"])
    proxyHeaders = registry.counter(
      "turnout_proxy_headers_total", help: "PROXY headers that were waited for, by what came.",
      labels: ["listener", "outcome"])
    handshakes = registry.counter(
      "turnout_tls_handshakes_total", help: "TLS handshakes with clients, by how they ended.",
      labels: ["listener", "outcome"])
    malformedRequests = registry.counter(
      "turnout_malformed_requests_total", help: "Requests that are no acceptable HTTP, by kind.", labels: ["kind"])
    http2Faults = registry.counter(
      "turnout_http2_faults_total", help: "What clients and upstreams did against HTTP/2, by what it ended and kind.",
      labels: ["scope", "kind"])
    slowRequests = registry.counter(
      "turnout_slow_clients_total", help: "Requests that were refused because they did not arrive in time.", labels: []
    ).child([])
    // Prometheus sees no growth in the first value of a series: what an alert waits for has to be there before.
    for reason in ["connections", "descriptors"] { _ = acceptPauses.child([reason]) }
  }

  func malformed(_ error: HTTP1Error, shard: Int) {
    malformedRequests.child(["\(error.kind.name)"]).add(1, shard: shard)
  }

  func http2Fault(_ fault: HTTP2Fault, shard: Int) {
    http2Faults.child([fault.scope.rawValue, fault.kind.rawValue]).add(1, shard: shard)
  }
}
