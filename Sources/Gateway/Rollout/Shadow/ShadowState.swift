import Configuration
import Metrics
import Policies
import Synchronization

/// Why a call of a shadowed route has no comparison.
enum ShadowSkip: String, CaseIterable {
  /// The request or an answer is larger than `max_body`.
  case tooLarge = "too_large"
  case inFlight = "in_flight"
  case rate
  /// The method may have side effects.
  case unsafe
  case streaming
  /// `limits.buffers` has no room.
  case buffers
  /// Half an answer, none at all (HEAD, 304), or one that the comparison gave up.
  case notComparable = "not_comparable"
  /// The caller left, or the call ended before somebody was asked.
  case unanswered
}

/// The shadow of one route over the whole process: its bounds, its counters, what was found. Kept over reloads.
final class ShadowState: Sendable {
  let match: Counter
  let mismatch: Counter
  let error: Counter
  let skipped: Counter
  let dryRun: DryRunCounters
  let findings = Mutex(ShadowFindings())
  private let skips: [Counter]
  private let inFlight = Atomic<Int>(0)
  private let bucket = Mutex(TokenBucket())
  private let paths: CounterFamily
  private let service: String
  private let method: String

  init(_ route: Route, _ metrics: GatewayMetrics) {
    (service, method) = (route.service, route.method)
    match = metrics.rollout.shadows.child([service, method, "match"])
    mismatch = metrics.rollout.shadows.child([service, method, "mismatch"])
    error = metrics.rollout.shadows.child([service, method, "error"])
    skipped = metrics.rollout.shadows.child([service, method, "skipped"])
    skips = ShadowSkip.allCases.map { [service, method] in
      metrics.rollout.shadowSkips.child([service, method, $0.rawValue])
    }
    paths = metrics.rollout.shadowDifferences
    dryRun = DryRunCounters(route, metrics)
  }

  func skip(_ reason: ShadowSkip, shard: Int) {
    skipped.add(1, shard: shard)
    guard let index = ShadowSkip.allCases.firstIndex(of: reason) else { return }
    skips[index].add(1, shard: shard)
  }

  /// Skipped calls by reason, those that came about.
  var skipCounts: [(reason: ShadowSkip, count: UInt64)] {
    zip(ShadowSkip.allCases, skips).map { ($0, $1.value) }.filter { $0.count > 0 }
  }

  /// The counter of a path that differs; the findings say which paths have one of their own.
  func differences(_ path: String, _ kind: String) -> Counter { paths.child([service, method, path, kind]) }

  // MARK: Bounds

  /// Takes one of the places; whoever got it gives it back.
  func enter(limit: Int) -> Bool {
    if inFlight.add(1, ordering: .relaxed).newValue <= limit { return true }
    inFlight.subtract(1, ordering: .relaxed)
    return false
  }

  func leave() { inFlight.subtract(1, ordering: .relaxed) }

  /// Takes one of the copies of a second.
  ///
  /// - Parameter now: nanoseconds of the monotonic clock.
  func take(perSecond rate: Int, at now: UInt64) -> Bool {
    guard rate > 0 else { return true }
    let rate = Rate(requests: rate, period: 1_000_000_000, burst: rate)
    return bucket.withLock { $0.take(at: now, rate) == .taken }
  }
}

/// The shadows of all routes, by procedure.
final class ShadowRegistry: Sendable {
  private let states = Mutex<[String: ShadowState]>([:])

  func state(of route: Route, _ metrics: GatewayMetrics) -> ShadowState {
    states.withLock { states in
      if let known = states[route.name] { return known }
      let state = ShadowState(route, metrics)
      states[route.name] = state
      return state
    }
  }

  /// Lets go what belongs to other procedures than these.
  func keep(only procedures: Set<String>) {
    states.withLock { states in
      for procedure in states.keys where !procedures.contains(procedure) { states[procedure] = nil }
    }
  }

  /// Procedures that are known.
  var procedures: [String] { states.withLock { Array($0.keys) } }

  /// Nil for a route that was never shadowed.
  func known(_ procedure: String) -> ShadowState? { states.withLock { $0[procedure] } }
}
