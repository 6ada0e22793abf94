import Metrics

/// What is counted of upstreams, by their names in the configuration.
struct UpstreamMetrics: Sendable {
  let duration: HistogramFamily
  let failures: CounterFamily
  let retries: CounterFamily
  let budgetExhausted: CounterFamily
  let overflows: CounterFamily
  let connections: GaugeFamily
  let connectFailures: CounterFamily
  let handshakes: CounterFamily
  let endpoints: GaugeFamily
  let ejections: CounterFamily
  let healthChecks: CounterFamily

  init(_ registry: MetricsRegistry) {
    duration = registry.histogram(
      "turnout_upstream_duration_seconds", help: "From asking an upstream to the end of its answer.",
      labels: ["upstream", "service", "method"])
    failures = registry.counter(
      "turnout_upstream_failures_total", help: "Upstream exchanges that failed, by kind.",
      labels: ["upstream", "kind"])
    retries = registry.counter(
      "turnout_upstream_retries_total", help: "Requests that were sent again, by the reason.",
      labels: ["upstream", "reason"])
    budgetExhausted = registry.counter(
      "turnout_upstream_retry_budget_exhausted_total", help: "Retries that were not made because there were too many.",
      labels: ["upstream"])
    overflows = registry.counter(
      "turnout_upstream_overflows_total", help: "Requests that were refused by a limit of the upstream or the route.",
      labels: ["upstream", "limit"])
    connections = registry.gauge(
      "turnout_upstream_connections", help: "Open upstream connections, by state.", labels: ["upstream", "state"])
    connectFailures = registry.counter(
      "turnout_upstream_connect_failures_total", help: "Connections to an upstream that could not be opened.",
      labels: ["upstream"])
    handshakes = registry.counter(
      "turnout_upstream_tls_handshakes_total", help: "TLS handshakes with upstreams, by how they ended.",
      labels: ["upstream", "outcome"])
    endpoints = registry.gauge(
      "turnout_upstream_endpoints", help: "Endpoints of an upstream, by whether they are used.",
      labels: ["upstream", "state"])
    ejections = registry.counter(
      "turnout_upstream_ejections_total", help: "Endpoints that were left out for their answers.",
      labels: ["upstream"])
    healthChecks = registry.counter(
      "turnout_upstream_health_checks_total", help: "Health checks of endpoints, by outcome.",
      labels: ["upstream", "outcome"])
  }

  func failed(_ upstream: String, _ kind: UpstreamFailure.Kind, shard: Int) {
    failures.child([upstream, kind.label]).add(1, shard: shard)
  }
}

/// What one loop counts of one upstream.
struct UpstreamCounters {
  let idle: ShardedGauge
  let active: ShardedGauge
  let connectFailures: Counter

  init(_ metrics: UpstreamMetrics, _ name: String, shard: Int) {
    idle = ShardedGauge(gauge: metrics.connections.child([name, "idle"]), shard: shard)
    active = ShardedGauge(gauge: metrics.connections.child([name, "active"]), shard: shard)
    connectFailures = metrics.connectFailures.child([name])
  }
}

/// A gauge as one loop counts it.
struct ShardedGauge {
  let gauge: Gauge
  let shard: Int

  func add(_ amount: Int) { gauge.add(amount, shard: shard) }
}
