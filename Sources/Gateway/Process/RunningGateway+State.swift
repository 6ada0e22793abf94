import Configuration
import Diagnostics
import EventLoops
import Migration
import Synchronization

/// What is set at run time: kept over a restart, shared with other replicas, written down.
extension RunningGateway {
  /// Begins before the workers do: the first request follows what was set before the restart.
  func beginKeepingStages(_ snapshot: Snapshot) throws(SystemError) {
    let configuration = snapshot.configuration
    if let path = configuration.audit?.path {
      let audit = try Self.auditLog(path, replica: replica)
      shared.stages.onChange { audit.write($0) }
      state.withLock { $0.audit = audit }
    }
    guard let settings = configuration.state else { return }
    let writer = Self.randomName()
    let keeper = StageKeeper(
      stages: shared.stages, writer: writer, replica: replica, log: shared.log, metrics: shared.metrics
    ) { [weak self] procedure, setting in
      self?.snapshot.routes.first { $0.name == procedure }?.admits(setting) ?? false
    }
    shared.stages.onChange { [weak keeper] in keeper?.changed($0) }
    state.withLock { $0.keeper = keeper }
    if let file = settings.file { keeper.keep(in: file.path) }
    guard let name = settings.redis?.name, let endpoint = snapshot.redis[name] else { return }
    let sharing = try StageSharing.start(
      endpoint: endpoint, keeper: keeper, writer: writer, lead: shared.rampLead, log: shared.log,
      presence: shared.redisPresence, metrics: shared.metrics)
    state.withLock { $0.sharing = sharing }
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

  private static func auditLog(_ path: FileReference, replica: String) throws(SystemError) -> AuditLog {
    do throws(SystemError) {
      return try AuditLog(path: path.path, replica: replica)
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
