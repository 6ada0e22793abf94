import Configuration
import EventLoops
import Metrics
import Policies

/// How the endpoints of upstreams do, for people and for metrics.
enum UpstreamReport {
  /// Sets the gauges.
  static func report(_ shared: GatewayShared) {
    let now = Instant.now().nanoseconds
    for upstream in shared.upstreams.all {
      var counts: [EndpointHealth.State: Int] = [:]
      for endpoint in upstream.endpoints.all { counts[endpoint.state(at: now), default: 0] += 1 }
      for state in EndpointHealth.State.allCases {
        shared.metrics.upstreams.endpoints.child([upstream.name, state.rawValue]).set(Double(counts[state] ?? 0))
      }
    }
  }

  /// Of an upstream that is no more.
  static func clear(_ name: String, _ metrics: GatewayMetrics) {
    for state in EndpointHealth.State.allCases { metrics.upstreams.endpoints.child([name, state.rawValue]).set(0) }
  }

  /// `GET /upstreams`: those of the configuration, in its order. The error of an upstream is that of names which give no
  /// addresses, for they have no endpoint that could show it.
  static func json(_ upstreams: [UpstreamConfiguration], _ registry: UpstreamRegistry) -> JSONValue {
    let now = Instant.now().nanoseconds
    return [
      "upstreams": .array(
        upstreams.filter { !$0.isGateway }.map { upstream -> JSONValue in
          let state = registry.state(upstream.name)
          let trouble = state.names.text
          return [
            "name": .string(upstream.name), "protocol": .string(upstream.protocol.rawValue),
            "connections": .integer(UInt64(clamping: state.connections.count)),
            "pending": .integer(UInt64(clamping: state.pending.count)),
            "last_error": trouble.isEmpty ? .null : .string(trouble),
            "endpoints": .array(state.endpoints.all.map { json($0, now) }),
          ]
        })
    ]
  }

  private static func json(_ endpoint: EndpointHealth, _ now: UInt64) -> JSONValue {
    let facts = endpoint.facts
    let error = endpoint.lastError
    return [
      "endpoint": .string(facts.endpoint), "address": .string(facts.address),
      "state": .string(endpoint.state(at: now).rawValue), "weight": .integer(UInt64(clamping: facts.weight)),
      "priority": .integer(UInt64(clamping: facts.priority)), "zone": facts.zone.isEmpty ? .null : .string(facts.zone),
      "in_flight": .integer(UInt64(clamping: endpoint.inFlight)),
      "last_error": error.isEmpty ? .null : .string(error),
    ]
  }
}
