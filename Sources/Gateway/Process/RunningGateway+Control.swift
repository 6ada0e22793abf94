import Configuration
import Diagnostics
import EventLoops
import Glibc
import JSONValues
import Metrics
import Migration
import Synchronization

extension RunningGateway: ControlPlane {
  func metrics() -> [UInt8] { shared.metrics.registry.expose() }

  var isReady: Bool { !isDraining }

  func routes() -> [UInt8] {
    let counts = CallCounts(shared.metrics)
    let routes = snapshot.routes.map { RouteJSON(route: $0, shared: shared, counts: counts).value }
    let value: JSONValue = [
      "replica": .string(replica), "now": .time(sinceEpoch: WallClock.now().sinceEpoch),
      "config": configurationMark, "warnings": .array(troubles.map { .string($0) }), "routes": .array(routes),
    ]
    return value.bytes
  }

  func route(_ procedure: String) -> Result<[UInt8], ControlError> {
    find(procedure).map { RouteJSON(route: $0, shared: shared).value.bytes }
  }

  func upstreams() -> [UInt8] { UpstreamReport.json(snapshot.upstreams, shared.upstreams).bytes }

  func audit() -> [UInt8] { trail.json(replica: replica).bytes }

  func samples(_ procedure: String) -> Result<[UInt8], ControlError> {
    find(procedure).map { ShadowJSON.samples(shared.shadows.known($0.name)).bytes }
  }

  func reload(actor: AdminActor) -> ReloadOutcome? { reloadInTime(because: .admin(actor)) }

  func refusedReload(actor: AdminActor, reason: String) {
    guard refusals.admitsOne() else { return }
    let record = ReloadRecord(
      outcome: .refused, cause: .admin(actor), error: reason, errors: 1, config: snapshot.hash,
      at: WallClock.now().sinceEpoch)
    let by = actor.address.isEmpty ? "" : " by \(actor.address)"
    shared.log.write(.warning, "a reload was asked for\(by) and refused: \(reason)", record.members)
    tell(record)
  }

  func setStage(_ procedure: String, _ change: StageChange, actor: AdminActor) -> Result<[UInt8], ControlError> {
    find(procedure).flatMap { route in
      setting(of: route, change).map { setting in
        shared.stages.set(procedure, to: setting, origin(actor, change.reason))
        return changed(route)
      }
    }
  }

  func clearStage(_ procedure: String, reason: String, actor: AdminActor) -> Result<[UInt8], ControlError> {
    find(procedure).map { route in
      shared.stages.clear(procedure, origin(actor, reason))
      return changed(route)
    }
  }

  func hold(_ procedure: String, _ change: HoldChange, actor: AdminActor) -> Result<[UInt8], ControlError> {
    find(procedure).map { route in
      shared.stages.hold(procedure, change.isHeld, origin(actor, change.reason))
      return changed(route)
    }
  }

  /// A route after a change, and what keeps the change from doing all that it should. Where there is a state file it says
  /// whether the change is in it: if not, a restart before that can be written forgets it.
  private func changed(_ route: Route) -> [UInt8] {
    // First: it has the file written.
    let isSaved = state.withLock { $0.keeper }?.isSaved()
    let value = RouteJSON(route: route, shared: shared).value
    guard case .object(var members) = value else { return value.bytes }
    if let isSaved { members.append(JSONValue.Member("saved", .bool(isSaved))) }
    let troubles = troubles
    if !troubles.isEmpty { members.append(JSONValue.Member("warnings", .array(troubles.map { .string($0) }))) }
    return JSONValue.object(members).bytes
  }

  // MARK: Reading what is asked

  private func origin(_ actor: AdminActor, _ reason: String) -> StageOrigin {
    var origin = StageOrigin(.admin, actor: actor.address, reason: reason, at: WallClock.now().sinceEpoch)
    origin.client = StageOrigin.Client(agent: actor.agent, showedToken: actor.showedToken)
    return origin
  }

  private func find(_ procedure: String) -> Result<Route, ControlError> {
    let routes = snapshot.routes
    if let route = routes.first(where: { $0.name == procedure }) { return .success(route) }
    return .failure(.notFound("there is no route \(procedure)\(Self.hint(procedure, routes.map(\.name)))"))
  }

  /// The name that is nearest, else those of the same method: who leaves out the package has most of it right.
  private static func hint(_ procedure: String, _ names: [String]) -> String {
    var near = Nearest.match(procedure, in: names).map { [$0] } ?? []
    if near.isEmpty, let slash = procedure.lastIndex(of: "/") {
      let method = procedure[slash...].lowercased()
      near = Array(names.lazy.filter { $0.lowercased().hasSuffix(method) }.prefix(4))
    }
    guard let last = near.last else { return "; GET /routes lists all" }
    if near.count == 4 { return "; did you mean \(near.dropLast().joined(separator: ", ")) or another of that name?" }
    let all = near.count == 1 ? last : "\(near.dropLast().joined(separator: ", ")) or \(last)"
    return "; did you mean \(all)?"
  }

  /// What a change asks for, if the route can have it.
  private func setting(of route: Route, _ change: StageChange) -> Result<StageSetting, ControlError> {
    guard let wanted = RouteSettings.Stage(rawValue: change.stage) else {
      let allowed = RouteSettings.Stage.allCases.map(\.rawValue).joined(separator: ", ")
      return .failure(.invalid("\"\(change.stage)\" is no stage; the stages are \(allowed)"))
    }
    if change.percent != nil, wanted != .canary { return .failure(.invalid("percent goes with stage canary only")) }
    guard route.canServe(wanted) else {
      return .failure(.invalid("\(route.name) has no upstream for stage \(wanted.rawValue)"))
    }
    guard wanted != .shadow || route.isSafe || route.settings.shadow.unsafe else {
      return .failure(
        .invalid("\(route.name) may have side effects, so it cannot be shadowed without `shadow: { unsafe: true }`"))
    }
    guard wanted == .canary else { return .success(StageSetting(wanted)) }
    guard let share = share(of: route, change) else {
      return .failure(
        .invalid("stage canary needs a percent from 0 to 100: the file has none for \(route.name)"))
    }
    return .success(StageSetting(.canary, share: share))
  }

  /// The share that is asked for, else the file's or the first of its ramp, else that of a canary which runs.
  private func share(of route: Route, _ change: StageChange) -> Share? {
    if let percent = change.percent { return Share(percent: percent) }
    if let percent = route.settings.canary?.percent { return Share(hundredths: percent) }
    if let step = route.settings.ramp?.steps.first { return Share(hundredths: step) }
    let now = route.stage.setting
    return now.stage == .canary ? now.share : nil
  }

  /// How this process is told from others: the machine's name, and the port of the admin endpoint.
  var replica: String {
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
      guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else { return "localhost" }
      name[name.count - 1] = 0
      return String(cString: start)
    }
    let addresses = addresses
    let port = addresses.admin?.port ?? addresses.listeners.first?.port ?? 0
    return "\(name):\(port)"
  }
}
