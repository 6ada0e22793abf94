import Metrics

/// What is counted of Redis servers, by their names in the configuration.
struct RedisMetrics: Sendable {
  let commands: CounterFamily
  let duration: HistogramFamily
  let connections: GaugeFamily
  let connectFailures: CounterFamily

  init(_ registry: MetricsRegistry) {
    commands = registry.counter(
      "turnout_redis_commands_total", help: "Commands to a Redis server, by how they ended.",
      labels: ["redis", "outcome"])
    duration = registry.histogram(
      "turnout_redis_command_duration_seconds", help: "From sending a command to its answer.", labels: ["redis"],
      buckets: [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1])
    connections = registry.gauge(
      "turnout_redis_connections", help: "Connections over which a Redis server may be asked.", labels: ["redis"])
    connectFailures = registry.counter(
      "turnout_redis_connect_failures_total", help: "Connections to a Redis server that failed before they were ready.",
      labels: ["redis"])
  }
}

/// What one loop counts of one server.
struct RedisCounters {
  private let shard: Int
  private let ok: Counter
  private let failures: [String: Counter]
  private let duration: Histogram
  private let connections: Gauge
  private let connectFailures: Counter

  init(_ metrics: RedisMetrics, _ name: String, shard: Int) {
    self.shard = shard
    ok = metrics.commands.child([name, "ok"])
    failures = Dictionary(
      uniqueKeysWithValues: ["away", "busy", "timeout", "slow", "lost", "refused"].map {
        ($0, metrics.commands.child([name, $0]))
      })
    duration = metrics.duration.child([name])
    connections = metrics.connections.child([name])
    connectFailures = metrics.connectFailures.child([name])
  }

  func answered(after nanoseconds: UInt64) {
    ok.add(1, shard: shard)
    duration.observe(nanoseconds: nanoseconds, shard: shard)
  }

  func failed(_ failure: RedisFailure) { failures[failure.label]?.add(1, shard: shard) }
  func connected(_ change: Int) { connections.add(change, shard: shard) }
  func connectFailed() { connectFailures.add(1, shard: shard) }
}
