import Configuration
import EventLoops
import Migration
import REST

/// One route as the admin endpoint shows it. Each part of it has a file of its own and can be null.
struct RouteJSON {
  let route: Route
  let shared: GatewayShared
  /// Where many routes are shown: counted once for all of them.
  var counts: CallCounts?

  var value: JSONValue {
    let state = shared.stages.state(of: route.name)
    let counts = counts ?? CallCounts(shared.metrics)
    var members = stage(state)
    members += [.init("faces", faces), .init("backends", backends), .init("calls", calls(counts[route]))]
    if !route.settings.hosts.isEmpty {
      members.append(.init("hosts", .array(route.settings.hosts.map { .string($0) })))
    }
    members.append(.init("callers", callers))
    members.append(.init("override", override(state)))
    let shadow = shared.shadows.known(route.name)
    members.append(.init("shadow", ShadowJSON.shadow(shadow)))
    members.append(.init("dry_run", ShadowJSON.dryRun(shadow)))
    members.append(.init("history", history(state)))
    let watch = shared.rollout.watch(of: route.name)
    members.append(.init("guard", guarding(watch, state)))
    members.append(.init("ramp", ramp(watch, state)))
    members.append(.init("sides", sides(watch)))
    members.append(.init("fallback", fallback(counts.fallbacks(of: route))))
    return .object(members)
  }

  private var faces: JSONValue {
    let bindings = zip(route.bindings, route.templates).map { binding, template in
      JSONValue.object([.init("method", .string(binding.httpMethod)), .init("path", .string(template))])
    }
    return ["rest": .array(bindings), "rpc": .string(route.settings.prefix + route.procedure)]
  }

  private var backends: JSONValue {
    [
      "rest": route.settings.rest.map { .string($0.name) } ?? .null,
      "rpc": route.settings.rpc.map { .string($0.name) } ?? .null,
    ]
  }

  /// Ended calls by answering side since the start, read from the metrics.
  private func calls(_ counts: CallCounts.Sides) -> JSONValue {
    ["rest": .integer(counts.rest), "rpc": .integer(counts.rpc), "none": .integer(counts.none)]
  }

  /// Calls that failed on either side, by what came of asking the other one; null where that is not done.
  private func fallback(_ counts: CallCounts.Fallbacks) -> JSONValue {
    guard route.fallback != nil || !counts.rest.isEmpty || !counts.rpc.isEmpty else { return .null }
    return [
      "rest": .object(counts.rest.map { .init($0.outcome, .integer($0.count)) }),
      "rpc": .object(counts.rpc.map { .init($0.outcome, .integer($0.count)) }),
    ]
  }
}

extension JSONValue {
  /// A time as RFC 3339 with milliseconds.
  ///
  /// - Parameter sinceEpoch: nanoseconds since 1970.
  static func time(sinceEpoch: Int64) -> JSONValue { .string(WallTime(sinceEpoch: sinceEpoch).text) }
}
