import Configuration
import Dispatch
import EventLoops
import Metrics
import Migration
import Synchronization

/// Watches all routes on a queue of its own: slides their windows, lets their guards act and their ramps go on.
///
/// It needs neither the loops, whose figures it only reads, nor the admin endpoint. What it does is a change of the
/// stage registry, which all loops follow with their next call.
final class RolloutWatch: Sendable {
  /// How often guards look; a trip is on all loops well within a second.
  private static let guarded: DispatchTimeInterval = .milliseconds(100)
  /// How often windows slide when nobody judges them.
  private static let unguarded: DispatchTimeInterval = .seconds(1)

  private let stages: StageRegistry
  private let figures: FigureRegistry
  private let metrics: GatewayMetrics
  private let log: GatewayLog
  private let lead: RampLead
  private let routes = Mutex<[String: RouteWatch]>([:])
  private let timer = Mutex<any DispatchSourceTimer>(
    DispatchSource.makeTimerSource(queue: DispatchQueue(label: "rollout")))

  init(stages: StageRegistry, figures: FigureRegistry, metrics: GatewayMetrics, log: GatewayLog, lead: RampLead) {
    self.stages = stages
    self.figures = figures
    self.metrics = metrics
    self.log = log
    self.lead = lead
    timer.withLock { timer in
      timer.schedule(deadline: .distantFuture)
      timer.setEventHandler { [weak self] in self?.tick(at: Instant.now().nanoseconds) }
      timer.activate()
    }
  }

  deinit { timer.withLock { $0.cancel() } }

  /// Follows the plans of a snapshot; routes that stay keep what was counted.
  func publish(_ plans: [Route]) {
    let isGuarded = routes.withLock { routes in
      var next: [String: RouteWatch] = [:]
      for plan in plans {
        var watch = routes[plan.name] ?? RouteWatch(route: plan)
        watch.adopt(plan)
        next[plan.name] = watch
      }
      routes = next
      return next.values.contains { $0.isGuarded }
    }
    let interval = isGuarded ? Self.guarded : Self.unguarded
    timer.withLock { $0.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(10)) }
  }

  /// No more ticks.
  func stop() { timer.withLock { $0.schedule(deadline: .distantFuture) } }

  /// - Parameter now: nanoseconds of the machine's clock.
  func tick(at now: UInt64) {
    // What is done runs others' code, so it is done without the lock.
    let actions = routes.withLock { routes in
      var actions: [(Route, RouteWatch.Action)] = []
      for name in routes.keys {
        let totals = figures.totals(of: name)
        let state = stages.state(of: name)
        for action in routes[name]?.tick(at: now, totals, state, figures) ?? [] {
          if let route = routes[name]?.route { actions.append((route, action)) }
        }
      }
      return actions
    }
    for (route, action) in actions { act(action, on: route) }
  }

  private func act(_ action: RouteWatch.Action, on route: Route) {
    switch action {
    case .trip(let setting, let judged, let limit, let reason):
      stages.trip(route.name, to: setting, judged: judged, reason: reason) {
        metrics.rollout.rollbacks.child([route.service, route.method, limit.rawValue]).add(1, shard: 0)
      }
    case .hold(let reason):
      stages.hold(route.name, true, StageOrigin(.guard, reason: reason, at: WallClock.now().sinceEpoch))
    case .alert(let reason):
      log.write(.warning, "the guard of \(route.name), which is in stage \(route.stage.setting): \(reason)")
    // Of several replicas one advances, and the others follow.
    case .advance where !lead.isOurs: break
    case .advance(let from, let to, let step, let count):
      stages.advance(
        route.name, from: from, to: to,
        StageOrigin(.ramp, reason: "step \(step) of \(count)", at: WallClock.now().sinceEpoch))
    }
  }

  /// One route as it stands; nil when it is not configured.
  func watch(of procedure: String) -> RouteWatch? { routes.withLock { $0[procedure] } }

  /// Sets the gauges of all routes: called when metrics are read.
  func report() {
    for watch in routes.withLock({ Array($0.values) }) {
      metrics.rollout.report(watch, stages.state(of: watch.route.name))
    }
  }
}
