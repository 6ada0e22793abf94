import Configuration
import Diagnostics
import EventLoops
import Metrics
import Migration
import Synchronization

/// What is set at run time: kept over a restart, shared with other replicas, written down.
extension RunningGateway {
  /// Begins before the workers do: the first request follows what was set before the restart.
  func beginKeepingStages(_ snapshot: Snapshot) throws(SystemError) {
    let audit = try snapshot.configuration.audit.map { (audit) throws(SystemError) in
      try auditLog(audit.path)
    }
    state.withLock { $0.audit = audit }
    // Once: which keeper there is may change with a reload.
    shared.stages.onChange { [weak self] record in self?.state.withLock({ $0.keeper })?.changed(record) }
    try keepStages(snapshot, after: nil)
  }

  /// After the workers: nothing changes any more.
  func endKeepingStages() {
    let (sharing, keeper, audit) = state.withLock { ($0.sharing, $0.keeper, $0.audit) }
    sharing?.stop()
    keeper?.flush()
    audit?.flush()
    state.withLock { state in
      state.sharing = nil
      state.keeper = nil
    }
  }

  // MARK: Reloads

  /// What writes down the changes of a new configuration; opened before anything of it takes effect.
  enum AuditChange {
    case none
    case to(AuditLog?)
  }

  func auditChange(from old: GatewayConfiguration, to new: GatewayConfiguration) throws(SystemError) -> AuditChange {
    guard old.audit?.path.path != new.audit?.path.path else { return .none }
    guard let path = new.audit?.path else { return .to(nil) }
    return .to(try openAuditLog(path))
  }

  /// The changes of stages that the new configuration itself makes are the first in the new log.
  func take(_ change: AuditChange) {
    guard case .to(let audit) = change else { return }
    let old = state.withLock { state in
      defer { state.audit = audit }
      return state.audit
    }
    old?.flush()
  }

  /// The rest of a reload, when the stages of the new file count: another file or server is read and merged as at the
  /// start. What cannot be done is told, and is no reason to go back.
  func rekeepStages(_ snapshot: Snapshot, after old: Snapshot) {
    do throws(SystemError) {
      try keepStages(snapshot, after: old)
    } catch {
      shared.metrics.rollout.stateErrors.child(["share"]).add(1, shard: 0)
      shared.log.write(.error, "stages are not shared: \(error)")
    }
  }

  // MARK: Keeping

  /// - Parameter old: nil at the start.
  private func keepStages(_ snapshot: Snapshot, after old: Snapshot?) throws(SystemError) {
    let settings = snapshot.configuration.state
    let server = settings?.redis.flatMap { snapshot.redis[$0.name] }
    let oldServer = old?.configuration.state?.redis.flatMap { old?.redis[$0.name] }
    let isSameServer =
      if let server, let oldServer { server.isSame(as: oldServer) } else { server == nil && oldServer == nil }
    // First, so that nobody is told what is read from another file.
    if !isSameServer { stopSharing() }
    guard let settings else {
      let keeper = state.withLock { state in
        defer { state.keeper = nil }
        return state.keeper
      }
      keeper?.flush()
      return
    }
    let keeper = keeper()
    let path = settings.file?.path
    // The same file is only looked at: somebody may have moved its folder.
    if path != old?.configuration.state?.file?.path { keeper.keep(in: path) } else { keeper.probe() }
    // One that could not be begun is tried again.
    guard let server, !isSameServer || state.withLock({ $0.sharing == nil }) else { return }
    let sharing = try StageSharing.start(
      endpoint: server, keeper: keeper, writer: keeper.writer, lead: shared.rampLead, log: shared.log,
      presence: shared.redisPresence, metrics: shared.metrics)
    state.withLock { $0.sharing = sharing }
  }

  private func stopSharing() {
    let sharing = state.withLock { state in
      defer { state.sharing = nil }
      return state.sharing
    }
    sharing?.stop()
  }

  /// The one that is there, or a new one that knows what was set until now.
  private func keeper() -> StageKeeper {
    if let keeper = state.withLock({ $0.keeper }) { return keeper }
    let keeper = StageKeeper(
      stages: shared.stages, writer: Self.randomName(), replica: replica, log: shared.log, metrics: shared.metrics
    ) { [weak self] procedure, setting in
      self?.snapshot.routes.first { $0.name == procedure }?.admits(setting) ?? false
    }
    state.withLock { $0.keeper = keeper }
    keeper.recordAll()
    return keeper
  }

  private func openAuditLog(_ path: FileReference) throws(SystemError) -> AuditLog {
    let name = path.isSecret ? "the audit log" : "the audit log \(path.path)"
    let errors = shared.metrics.rollout.stateErrors
    return try AuditLog(path: path.path, replica: replica) { [log = shared.log] in
      log.write($0, of: name)
      if case .fails = $0 { errors.child(["audit"]).add(1, shard: 0) }
    }
  }

  private func auditLog(_ path: FileReference) throws(SystemError) -> AuditLog {
    do throws(SystemError) {
      return try openAuditLog(path)
    } catch {
      let shown = path.isSecret ? "the audit log" : "the audit log \(path.path)"
      let place = "\(path.position.file):\(path.position.line):\(path.position.column)"
      throw SystemError(call: "\(place): \(shown) cannot be opened", code: error.code)
    }
  }

  /// 64 bits in hexadecimal.
  private static func randomName() -> String {
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension Route {
  /// Whether the route can have a stage: it has the sides for it, and copies do no harm.
  func admits(_ setting: StageSetting) -> Bool { canServe(setting.stage) && (setting.stage != .shadow || isSafe) }
}
