import Configuration
import EventLoops
import Metrics
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
  let descriptors = DescriptorBudget()
  /// Client connections of the whole process.
  let connections = Atomic<Int>(0)
  private let names = Mutex(PublishedNames())
  /// Files of certificates that have been shown.
  private let certificateFiles = Mutex<Set<String>>([])

  init(metrics: GatewayMetrics, log: GatewayLog) {
    self.metrics = metrics
    self.log = log
    redisPresence = RedisPresence(log: log)
    accessLogs = AccessLogSinks(metrics: metrics, log: log)
    upstreams = UpstreamRegistry(shards: metrics.shards)
    rollout = RolloutWatch(stages: stages, figures: figures, metrics: metrics, log: log, lead: rampLead)
  }

  /// Lets go what was counted and set for routes and upstreams that are no more, so that reloads with ever new names do
  /// not make the process grow.
  ///
  /// The names before these count too, however often these are published: what somebody takes out by mistake, and puts in
  /// again, is as it was. Calls that still run on an older snapshot count where nobody looks any more. Metrics stay, as
  /// Prometheus expects of counters.
  func published(_ snapshot: Snapshot) {
    let kept = names.withLock { names in
      names.adopt(snapshot)
      return names
    }
    figures.keep(only: kept.procedures)
    callers.keep(only: kept.procedures)
    shadows.keep(only: kept.procedures)
    stages.keep(only: kept.procedures)
    for name in upstreams.keep(only: kept.upstreams) { UpstreamReport.clear(name, metrics) }
    accessLogs.closeUnused()
    showCertificates(snapshot.security.ends)
    metrics.operation.configInfo.only([snapshot.hash]) { $0.set(1) }
  }

  private func showCertificates(_ ends: [String: Int]) {
    let known = certificateFiles.withLock { files in
      files.formUnion(ends.keys)
      return files
    }
    for file in known { metrics.operation.certificateEnds.child([file]).set(Double(ends[file] ?? 0)) }
  }
}

/// The names of routes and upstreams: those that are served, and those before the last change of them.
private struct PublishedNames {
  private struct Names: Equatable {
    var procedures: Set<String> = []
    var upstreams: Set<String> = []
  }

  private var present = Names()
  private var before = Names()

  var procedures: Set<String> { present.procedures.union(before.procedures) }
  var upstreams: Set<String> { present.upstreams.union(before.upstreams) }

  mutating func adopt(_ snapshot: Snapshot) {
    let names = Names(
      procedures: Set(snapshot.routes.map(\.name)), upstreams: Set(snapshot.upstreams.map(\.name)))
    guard names != present else { return }
    before = present
    present = names
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
