import Configuration
import EventLoops
import Policies
import Synchronization
import Tokens
import TransportSecurity

/// What all loops share: registries and counts that belong to the process. Everything in it is safe from any thread.
final class GatewayShared: Sendable {
  let metrics: GatewayMetrics
  let stages = StageRegistry()
  let figures = FigureRegistry()
  let rollout: RolloutWatch
  let shadows = ShadowRegistry()
  let rateLimiters = RateLimiterRegistry()
  let accessTokens = ResourceRegistry<TokenSourceIdentity, CredentialField>()
  let keySets = ResourceRegistry<KeySourceIdentity, KeySet>()
  let callers = CallerRegistry()
  let accessLogs: AccessLogSinks
  let log: GatewayLog
  let redisPresence: RedisPresence
  let rampLead = RampLead()
  let buffers = BufferBudget()
  let upstreams: UpstreamRegistry
  let concurrency = ConcurrencyRegistry()
  let loops = LoopDirectory()
  /// Of all listeners, kept over reloads.
  let tickets = TicketKeys()
  /// Client connections of the whole process.
  let connections = Atomic<Int>(0)

  init(metrics: GatewayMetrics, log: GatewayLog) {
    self.metrics = metrics
    self.log = log
    redisPresence = RedisPresence(log: log)
    accessLogs = AccessLogSinks(metrics: metrics)
    upstreams = UpstreamRegistry(shards: metrics.shards)
    rollout = RolloutWatch(stages: stages, figures: figures, metrics: metrics, log: log, lead: rampLead)
  }

  /// Lets go what was counted and set for routes and upstreams that neither of two snapshots has, so that reloads with
  /// ever new names do not make the process grow.
  ///
  /// The one before counts too: what somebody takes out by mistake, and puts in again, is as it was. Calls that still run
  /// on an older snapshot count where nobody looks any more. Metrics stay, as Prometheus expects of counters.
  func keep(for snapshot: Snapshot, and before: Snapshot) {
    let procedures = Set((snapshot.routes + before.routes).map(\.name))
    figures.keep(only: procedures)
    callers.keep(only: procedures)
    shadows.keep(only: procedures)
    stages.keep(only: procedures)
    for name in upstreams.keep(only: Set((snapshot.upstreams + before.upstreams).map(\.name))) {
      UpstreamReport.clear(name, metrics)
    }
    accessLogs.closeUnused()
  }
}

/// Bytes that buffered messages take, over all calls of the process (`limits.buffers`).
final class BufferBudget: Sendable {
  private let used = Atomic<Int>(0)

  /// Takes bytes of the budget; false when they are not there.
  func reserve(_ bytes: Int, limit: Int) -> Bool {
    let after = used.add(bytes, ordering: .relaxed).newValue
    if after <= limit { return true }
    used.subtract(bytes, ordering: .relaxed)
    return false
  }

  func release(_ bytes: Int) {
    if bytes > 0 { used.subtract(bytes, ordering: .relaxed) }
  }

  var bytes: Int { used.load(ordering: .relaxed) }
}
