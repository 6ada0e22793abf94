import Configuration
package import Diagnostics
import EventLoops
import Migration
import REST

/// The gateway as the command line knows it.
package struct Turnout: GatewayProgram {
  package static let version = "0.1.0"

  private let signals = ProcessSignals()

  package init() {}

  package func catchSignals() -> Result<Void, ProgramFailure> {
    do throws(SystemError) {
      try signals.watch()
      return .success(())
    } catch {
      return .failure(.other("signals cannot be handled: \(error)"))
    }
  }

  package func serve(
    configPath: String, started: @escaping @Sendable (ServedAddresses) -> Void
  ) -> Result<Void, ProgramFailure> {
    if case .failure(let failure) = catchSignals() { return .failure(failure) }
    SignalWatcher.ignoreBrokenPipes()
    // What cannot be raised is told of with what it leaves.
    _ = try? DescriptorLimit.raise()
    let gateway: RunningGateway
    switch RunningGateway.start(configPath: configPath) {
    case .success(let running): gateway = running
    case .failure(let failure): return .failure(failure)
    }
    StartupMemory.release()
    let hash = gateway.snapshot.hash
    gateway.shared.log.write(.info, "configuration \(configPath)", [.init("config", .string(hash))])
    let addresses = gateway.addresses
    for address in addresses.listeners { gateway.shared.log.write(.info, "listening on \(address.text)") }
    if let admin = addresses.admin { gateway.shared.log.write(.info, "admin endpoint on \(admin.text)") }
    if let probes = addresses.probes { gateway.shared.log.write(.info, "probes on \(probes.text)") }
    signals.lead(to: gateway)
    if !gateway.isDraining { started(addresses) }
    gateway.waitUntilEnded()
    return .success(())
  }

  package func check(configPath: String) -> [Diagnostic] {
    let (snapshot, diagnostics) = compile(configPath)
    let warning = snapshot.flatMap { DescriptorBudget.warning(checking: $0.configuration) }
    return diagnostics + (warning.map { [$0] } ?? [])
  }

  package func routes(configPath: String) -> Result<[RouteSummary], ProgramFailure> {
    let (snapshot, diagnostics) = compile(configPath)
    guard let snapshot else { return .failure(.configuration(diagnostics)) }
    return .success(snapshot.routes.map { RouteSummary($0) })
  }

  package func explain(configPath: String, request: ExplainedRequest) -> Result<String, ProgramFailure> {
    let stages = StageRegistry()
    let (snapshot, diagnostics) = compile(configPath, stages)
    guard let snapshot else { return .failure(.configuration(diagnostics)) }
    for stage in request.stages { stages.set(stage) }
    if let stage = request.stage.flatMap({ RouteSettings.Stage(rawValue: $0) }) {
      for route in snapshot.routes {
        stages.set(route.name, to: route.setting(of: stage), StageOrigin(.admin, at: 0))
      }
    }
    return Explanation.explain(request, in: snapshot)
  }

  /// Compiles a configuration as serving would, without opening anything.
  private func compile(
    _ path: String, _ stages: StageRegistry = StageRegistry()
  ) -> (snapshot: Snapshot?, diagnostics: [Diagnostic]) {
    let (configuration, faults) = ConfigurationLoader.load(path: path)
    guard let configuration else { return (nil, faults) }
    let (snapshot, more) = SnapshotCompiler.compile(
      configuration, stages: stages, generation: 1)
    return (snapshot, faults + more)
  }
}

extension RouteSummary {
  init(_ route: Route) {
    self.init(
      procedure: route.name, stage: route.settings.stage.rawValue,
      percent: route.settings.stage == .canary ? StageSetting(route.settings).share.percent : nil,
      bindings: zip(route.bindings, route.templates).map { Binding(method: $0.httpMethod, path: $1) },
      rest: route.settings.rest?.name, rpc: route.settings.rpc?.name, hosts: route.settings.hosts)
  }
}

extension Route {
  /// A stage with the share that the route's file has for stage canary.
  fileprivate func setting(of stage: RouteSettings.Stage) -> StageSetting {
    var settings = settings
    settings.stage = stage
    return StageSetting(settings)
  }
}

extension StageRegistry {
  /// What a running gateway says of a route; nothing when it is no stage that this program knows.
  fileprivate func set(_ explained: ExplainedStage) {
    guard let stage = RouteSettings.Stage(rawValue: explained.stage) else { return }
    let setting = StageSetting(stage, share: explained.percent.flatMap { Share(percent: $0) } ?? .none)
    if explained.isTripped {
      trip(explained.procedure, to: setting, reason: "")
    } else if state(of: explained.procedure)?.effective != setting {
      set(explained.procedure, to: setting, StageOrigin(.admin, at: 0))
    }
  }
}
