import Configuration
import EventLoops
import HTTPModel
import Metrics
import RPC

/// What is counted and written when calls end.
extension Worker {
  /// Counts a call that has ended.
  func callEnded(_ call: Call) {
    countCaller(call)
    let counters = call.route?.counters ?? call.plans.unrouted
    let side = call.decision?.answering ?? .none
    let stage = call.decision?.stage
    let binding = call.face.binding
    var key = UInt64(call.outcome?.rawValue ?? 0)
    key |= UInt64(side.rawValue) << 8
    if call.decision?.hasFallenBack == true { key |= 1 << 11 }
    key |= UInt64(call.face.kind.rawValue) << 12
    key |= (stage.map { UInt64($0.number) + 1 } ?? 0) << 16
    key |= UInt64(call.decision?.reason.rawValue ?? 0) << 20
    key |= UInt64(truncatingIfNeeded: binding.map { $0 + 1 } ?? 0) << 24
    let elapsed = loop.now.nanoseconds(since: call.startedAt)
    countFigures(call, elapsed: elapsed)
    for entry in counters.entries where entry.key == key {
      entry.requests.add(1, shard: index)
      entry.duration.observe(nanoseconds: elapsed, shard: index)
      entry.decisions?.add(1, shard: index)
      return
    }
    let route = call.route?.plan
    let entry = RouteCounters.Entry(
      key: key,
      requests: metrics.requests.child([
        call.routeLabel, route?.service ?? "", route?.method ?? "", call.face.kind.label, side.label,
        stage?.rawValue ?? "none", call.outcome.map { "\($0.name)" } ?? "ok",
      ]),
      duration: metrics.duration.child([route?.service ?? "", route?.method ?? "", side.label]),
      decisions: call.decision.flatMap { decision in
        route.flatMap { metrics.decisions($0, decision) }
      })
    counters.entries.append(entry)
    entry.requests.add(1, shard: index)
    entry.duration.observe(nanoseconds: elapsed, shard: index)
    entry.decisions?.add(1, shard: index)
  }

  /// Counts how long one upstream exchange took.
  func observeUpstream(_ name: String, _ route: RouteState?, since start: Instant) {
    let counters = route?.counters ?? plans.unrouted
    let nanoseconds = loop.now.nanoseconds(since: start)
    for (known, histogram) in counters.upstream where known == name {
      histogram.observe(nanoseconds: nanoseconds, shard: index)
      return
    }
    let histogram = metrics.upstreamDuration.child([name, route?.plan.service ?? "", route?.plan.method ?? ""])
    counters.upstream.append((name, histogram))
    histogram.observe(nanoseconds: nanoseconds, shard: index)
  }

  /// Counts a call that a limit of rates or of concurrency refused.
  func countRateLimited(_ call: Call) {
    let counters = call.route?.counters ?? call.plans.unrouted
    let counter =
      counters.rateLimited
      ?? metrics.rateLimited.child([call.route?.plan.service ?? "", call.route?.plan.method ?? ""])
    counters.rateLimited = counter
    counter.add(1, shard: index)
  }

  /// Counts a call that a rate limit would have refused.
  func countRateLimitDryRun(_ call: Call) {
    let counters = call.route?.counters ?? call.plans.unrouted
    let counter =
      counters.rateLimitDryRun
      ?? metrics.rateLimitDryRun.child([call.route?.plan.service ?? "", call.route?.plan.method ?? ""])
    counters.rateLimitDryRun = counter
    counter.add(1, shard: index)
  }

  /// A request that never became a call.
  func logRefused(_ connection: any OpenConnection, status: Int, reason: String) {
    logOfPeer("refused a request of \(connection.origin.address.host) with \(status): \(reason)")
  }
}

extension Call {
  /// The route as metrics and logs name it: the template of a REST call, else the procedure; never the path.
  var routeLabel: String {
    guard let route else { return fallbackUpstream == nil ? "(none)" : "(fallback)" }
    if let binding = face.binding { return route.plan.templates[binding] }
    return route.plan.procedure
  }
}
