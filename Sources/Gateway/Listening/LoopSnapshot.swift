import Configuration
import EventLoops
import Metrics
import RPC

/// A snapshot as one loop holds it: with the loop's own pools and counters beside the shared plans.
///
/// Calls keep a reference to this object and not to the shared one, so that no core counts references of another.
final class LoopSnapshot {
  let snapshot: Snapshot
  let routes: [RouteState]
  /// For calls without a route.
  let unrouted: RouteCounters
  let pools: [UpstreamPool]

  init(snapshot: Snapshot, pools: [UpstreamPool]) {
    self.snapshot = snapshot
    self.pools = pools
    routes = snapshot.routes.map { RouteState(plan: $0) }
    unrouted = RouteCounters()
  }

  func pool(_ upstream: Int) -> UpstreamPool { pools[upstream] }
}

/// One route on one loop.
final class RouteState {
  let plan: Route
  let counters = RouteCounters()
  // Kept over reloads; found when they are first needed.
  var restFigures: SideFigures?
  var rpcFigures: SideFigures?
  var keyWeights: KeyWeights?
  private var shadow: ShadowState?
  // Unchecked, as all of this file that says so (decision 52): added to as a whole, and gone through by who calls nobody.
  @exclusivity(unchecked) private var backends: [(upstream: Int, backend: any Backend)] = []

  init(plan: Route) { self.plan = plan }

  /// What answers calls that are translated for this upstream.
  func backend(of upstream: Int, _ dialect: UpstreamDialect) -> any Backend {
    for index in backends.indices where backends[index].upstream == upstream { return backends[index].backend }
    let backend = Backends.backend(for: plan, dialect)
    backends.append((upstream, backend))
    return backend
  }

  /// What the route's shadow has in common with those of other loops, found without a lock after the first time.
  func shadowState(_ worker: Worker) -> ShadowState {
    if let shadow { return shadow }
    let state = worker.shared.shadows.state(of: plan, worker.metrics)
    shadow = state
    return state
  }
}

/// The children of the metric families that this route has used on this loop, found without a lock after the first time.
final class RouteCounters {
  /// An object, for each call looks at one: a copy would count each of its parts.
  final class Entry {
    let key: UInt64
    let requests: Counter
    let duration: Histogram
    /// Of calls whose side was chosen one by one.
    let decisions: Counter?

    init(key: UInt64, requests: Counter, duration: Histogram, decisions: Counter?) {
      self.key = key
      self.requests = requests
      self.duration = duration
      self.decisions = decisions
    }
  }

  // Unchecked: gone through as a copy, added to as a whole.
  @exclusivity(unchecked) var entries: [Entry] = []
  @exclusivity(unchecked) var upstream: [(name: String, histogram: Histogram)] = []
  var rateLimited: Counter?
  var rateLimitDryRun: Counter?
  var callers: RouteCallers?
}
