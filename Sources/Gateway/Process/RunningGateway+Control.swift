import Bytes
import Configuration
import Diagnostics
import Metrics
import REST

extension RunningGateway: ControlPlane {
  func metrics() -> [UInt8] { shared.metrics.registry.expose() }

  var isReady: Bool { !isDraining }

  func routes() -> [UInt8] {
    JSONValue.object([.init("routes", .array(snapshot.routes.map { routeJSON($0) }))]).bytes
  }

  func upstreams() -> [UInt8] { UpstreamReport.json(snapshot.upstreams, shared.upstreams).bytes }

  func reload() -> ReloadOutcome { reload(because: "POST /reload") }

  func setStage(
    procedure: String, stage: String, percent: Double?, reason: String
  ) -> Result<[UInt8], ControlError> {
    let routes = snapshot.routes
    guard let route = routes.first(where: { $0.name == procedure }) else {
      let known = routes.map { $0.name }
      let hint = Nearest.match(procedure, in: known).map { "; did you mean \($0)?" } ?? ""
      return .failure(.notFound("there is no route \(procedure)\(hint)"))
    }
    guard let wanted = RouteSettings.Stage(rawValue: stage) else {
      let allowed = RouteSettings.Stage.allCases.map(\.rawValue).joined(separator: ", ")
      return .failure(.invalid("\"\(stage)\" is no stage of this version; allowed: \(allowed)"))
    }
    guard percent == nil else { return .failure(.invalid("percent goes with stage canary only")) }
    guard route.canServe(wanted) else {
      return .failure(.invalid("\(procedure) has no upstream for stage \(stage)"))
    }
    guard wanted != .shadow || route.isSafe else {
      return .failure(.invalid("\(procedure) may have side effects, so it cannot be shadowed"))
    }
    let before = route.stage.stage
    route.stage.stage = wanted
    let why = reason.isEmpty ? "" : ": \(reason)"
    shared.log.write(.info, "stage of \(procedure) set from \(before.rawValue) to \(wanted.rawValue)\(why)")
    return .success(routeJSON(route).bytes)
  }

  private func routeJSON(_ route: Route) -> JSONValue {
    let bindings = zip(route.bindings, route.templates).map { binding, template in
      JSONValue.object([.init("method", .string(binding.httpMethod)), .init("path", .string(template))])
    }
    let counts = calls(of: route)
    let faces: JSONValue = [
      "rest": .array(bindings), "rpc": .string(route.settings.prefix + route.procedure),
    ]
    let backends: JSONValue = [
      "rest": route.settings.rest.map { .string($0.name) } ?? .null,
      "rpc": route.settings.rpc.map { .string($0.name) } ?? .null,
    ]
    let calls: JSONValue = [
      "rest": .integer(counts.rest), "rpc": .integer(counts.rpc), "none": .integer(counts.none),
    ]
    var members: [JSONValue.Member] = [
      .init("procedure", .string(route.name)),
      .init("stage", .string(route.stage.stage.rawValue)),
      .init("configured_stage", .string(route.settings.stage.rawValue)),
      .init("faces", faces),
      .init("backends", backends),
      .init("calls", calls),
    ]
    if !route.settings.hosts.isEmpty {
      members.append(.init("hosts", .array(route.settings.hosts.map { .string($0) })))
    }
    return .object(members)
  }

  /// Ended calls by answering side, read from the metrics.
  private func calls(of route: Route) -> (rest: UInt64, rpc: UInt64, none: UInt64) {
    var counts: (rest: UInt64, rpc: UInt64, none: UInt64) = (0, 0, 0)
    for (labels, counter) in shared.metrics.requests.sorted
    where labels.count > 4 && labels[1] == route.service && labels[2] == route.method {
      switch labels[4] {
      case "rest": counts.rest += counter.value
      case "rpc": counts.rpc += counter.value
      default: counts.none += counter.value
      }
    }
    return counts
  }
}
