import Metrics

/// The metric families of the gateway, made once, by what they tell of; names and labels are the contract's.
final class GatewayMetrics: Sendable {
  let registry: MetricsRegistry
  /// Loops that count.
  let shards: Int
  let calls: CallMetrics
  let rollout: RolloutMetrics
  let connections: ConnectionMetrics
  let upstreams: UpstreamMetrics
  let redis: RedisMetrics
  let operation: OperationMetrics
  let process: ProcessMetrics

  /// - Parameter shards: one for each loop.
  init(shards: Int) {
    let registry = MetricsRegistry(shards: shards)
    self.registry = registry
    self.shards = shards
    calls = CallMetrics(registry)
    rollout = RolloutMetrics(registry)
    connections = ConnectionMetrics(registry)
    upstreams = UpstreamMetrics(registry)
    redis = RedisMetrics(registry)
    operation = OperationMetrics(registry)
    process = ProcessMetrics(registry)
  }
}
