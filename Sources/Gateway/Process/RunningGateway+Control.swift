import Bytes
import Configuration
import Diagnostics
import Metrics
import REST

extension RunningGateway: ControlPlane {
  func metrics() -> [UInt8] { shared.metrics.registry.expose() }

  var isReady: Bool { !isDraining }

  func routes() -> [UInt8] {
    let counts = callCounts()
    return JSONValue.object([.init("routes", .array(snapshot.routes.map { routeJSON($0, counts) }))]).bytes
  }

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
    return .success(routeJSON(route, callCounts()).bytes)
  }

  private func routeJSON(_ route: Route, _ counts: [String: CallCounts]) -> JSONValue {
    let bindings = zip(route.bindings, route.templates).map { binding, template in
      JSONValue.object([.init("method", .string(binding.httpMethod)), .init("path", .string(template))])
    }
    let counts = counts[route.name] ?? CallCounts()
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
      .init("callers", callersJSON(of: route)),
    ]
    if !route.settings.hosts.isEmpty {
      members.append(.init("hosts", .array(route.settings.hosts.map { .string($0) })))
    }
    return .object(members)
  }

  /// Ended calls by answering side.
  private struct CallCounts {
    var rest: UInt64 = 0
    var rpc: UInt64 = 0
    var none: UInt64 = 0
  }

  /// The calls of every route by its name, read from the metrics in one pass.
  private func callCounts() -> [String: CallCounts] {
    var counts: [String: CallCounts] = [:]
    for (labels, counter) in shared.metrics.requests.sorted where labels.count > 4 {
      let name = "\(labels[1])/\(labels[2])"
      switch labels[4] {
      case "rest": counts[name, default: CallCounts()].rest += counter.value
      case "rpc": counts[name, default: CallCounts()].rpc += counter.value
      default: counts[name, default: CallCounts()].none += counter.value
      }
    }
    return counts
  }
}
