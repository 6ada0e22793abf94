import Configuration
import Diagnostics
import Dispatch
import EventLoops
import JSONValues
import Metrics
import Migration
import Synchronization

/// The change from one configuration to the next, and what sets it off.
extension RunningGateway {
  /// How long a reload waits for the loops.
  private static let adoptionTime: DispatchTimeInterval = .seconds(5)

  /// How long ``reloadInTime(because:)`` waits.
  private static let patience: DispatchTimeInterval = .seconds(10)

  /// Has the configuration read anew, soon, on a queue of its own: who asks waits neither for it nor for a file that does
  /// not answer. Of several that are asked for before the first of them begins, one is done.
  func reloadSoon(because cause: ReloadRecord.Cause) {
    let isFirst = state.withLock { state in
      defer { state.isReloadAsked = true }
      return !state.isReloadAsked
    }
    guard isFirst else { return }
    reloads.async { [self] in
      state.withLock { $0.isReloadAsked = false }
      _ = reload(because: cause)
    }
  }

  /// As ``reload(because:)``, for the admin endpoint, whose other callers wait meanwhile: for a while only.
  ///
  /// - Returns: nil when it has not ended in that time; it goes on, and the log will tell its outcome.
  func reloadInTime(because cause: ReloadRecord.Cause) -> ReloadOutcome? {
    // One runs, and one will read what has changed since: more would do the same again.
    let waiting = state.withLock { state in
      state.reloadsWaiting += 1
      return state.reloadsWaiting
    }
    guard waiting <= 2 else {
      state.withLock { $0.reloadsWaiting -= 1 }
      return nil
    }
    let done = DispatchSemaphore(value: 0)
    let box = OutcomeBox()
    reloads.async { [self] in
      let outcome = reload(because: cause)
      state.withLock { $0.reloadsWaiting -= 1 }
      box.outcome.withLock { $0 = outcome }
      done.signal()
    }
    let end = DispatchTime.now() + Self.patience
    while done.wait(timeout: min(end, .now() + .milliseconds(100))) == .timedOut {
      // The end of the process waits for this thread.
      if state.withLock({ $0.isDraining }) || .now() >= end { return nil }
    }
    return box.outcome.withLock { $0 }
  }

  /// Reads the configuration anew; a faulty one leaves the old one serving.
  func reload(because cause: ReloadRecord.Cause) -> ReloadOutcome {
    changes.sync {
      let outcome = reloadNow()
      // While it drains nothing is taken over, whatever the file says.
      if case .failed = outcome { state.withLock { if !$0.isDraining { $0.isReloadPending = true } } }
      switch outcome {
      case .ok(let warnings):
        shared.metrics.operation.reloads.child(["ok"]).add(1, shard: 0)
        shared.metrics.operation.lastReload.set(1)
        shared.metrics.operation.staleFiles.set(0)
        for warning in warnings { shared.log.write(.warning, "\(warning)") }
        StartupMemory.release()
        tell(.ok, cause, warnings) { shared.log.write(.info, "reloaded (\(cause.text))", $0) }
      case .failed(let diagnostics):
        shared.metrics.operation.lastReload.set(0)
        shared.metrics.operation.reloads.child(["failed"]).add(1, shard: 0)
        for diagnostic in diagnostics {
          shared.log.write(diagnostic.severity == .error ? .error : .warning, "\(diagnostic)")
        }
        tell(.failed, cause, diagnostics) {
          shared.log.write(.error, "the reload (\(cause.text)) failed; the old configuration goes on serving", $0)
        }
      }
      return outcome
    }
  }

  private func tell(
    _ outcome: ReloadRecord.Outcome, _ cause: ReloadRecord.Cause, _ diagnostics: [Diagnostic],
    _ log: ([JSONValue.Member]) -> Void
  ) {
    let faults = diagnostics.filter { $0.severity == .error }
    let record = ReloadRecord(
      outcome: outcome, cause: cause, error: faults.first.map { "\($0)" } ?? "", errors: faults.count,
      config: snapshot.hash, at: WallClock.now().sinceEpoch)
    state.withLock { $0.status.reloaded(record, diagnostics) }
    log(record.members)
    tell(record)
  }

  /// Into the audit log, after the changes of stages that came of it.
  func tell(_ record: ReloadRecord) {
    trail.append(record) { sequence in state.withLock { $0.audit }?.write(record, sequence) }
  }

  func tell(_ record: StageChangeRecord) {
    trail.append(record) { sequence in state.withLock { $0.audit }?.write(record, sequence) }
  }

  private func reloadNow() -> ReloadOutcome {
    let (old, isDraining) = state.withLock { ($0.snapshot, $0.isDraining) }
    let (configuration, faults) = ConfigurationLoader.load(path: configPath)
    guard let configuration else { return .failed(faults) }
    let position = SourcePosition(file: configPath, line: 1, column: 1)
    if isDraining { return .failed([Diagnostic(at: position, "the gateway is draining")]) }
    // Whatever comes of it: the cure of a fault may be a change of one of these.
    watchFiles(configuration)
    let (snapshot, more) = Self.compile(configuration, shared, interceptors, generation: old.generation + 1)
    guard let snapshot else { return .failed(faults + more) }
    // Asked again: what came before may have taken seconds, and the end has closed the sockets.
    let (known, hasEnded) = state.withLock { ($0.listeners, $0.isDraining) }
    if hasEnded { return .failed([Diagnostic(at: position, "the gateway is draining")]) }
    var listeners: [SocketAddressConfiguration: ListenerState] = [:]
    for listener in configuration.listeners {
      do throws(SystemError) {
        if let same = known[listener.address] {
          listeners[listener.address] = same
        } else {
          listeners[listener.address] = try Self.open(listener.address, shared.metrics)
        }
      } catch {
        return .failed(faults + more + [Diagnostic(at: listener.address.position, "\(error)", cure: "use a free port")])
      }
    }
    do throws(SystemError) {
      take(try auditChange(from: old.configuration, to: configuration))
    } catch {
      let what = "the audit log cannot be opened: \(error.reason)"
      let place = configuration.audit?.path.position ?? position
      return .failed(faults + more + [Diagnostic(at: place, what, cure: "name a file that can be written")])
    }
    publish(snapshot, listeners, replacing: known, after: old)
    state.withLock { $0.status.published(warnings: faults, compiled: more) }
    shared.log.adopt(configuration.log)
    return .ok(
      warnings: faults + more + pendingRestart(configuration) + CanaryChanges.warnings(from: old, to: snapshot))
  }

  func publish(
    _ snapshot: Snapshot, _ listeners: [SocketAddressConfiguration: ListenerState],
    replacing known: [SocketAddressConfiguration: ListenerState], after old: Snapshot
  ) {
    publishStages(snapshot)
    let opened = listeners.filter { known[$0.key] == nil }.map(\.value)
    let closed = known.filter { listeners[$0.key] == nil }.map(\.value)
    let workers = state.withLock { state in
      state.snapshot = snapshot
      state.listeners = state.isDraining ? [:] : listeners
      state.isReloadPending = false
      if let context = snapshot.security.admin { state.adminSecurity?.context = context }
      if let admin = snapshot.configuration.admin, admin.address == started.admin?.address {
        state.adminToken = admin.token
      }
      return state.workers
    }
    state.withLock { $0.keeper }?.published()
    rekeepStages(snapshot, after: old)
    // Whoever is told that it is reloaded may rely on it: the next request follows the new snapshot on every loop.
    let adopting = DispatchGroup()
    for worker in workers {
      adopting.enter()
      let isPosted = worker.post { worker in
        worker.adopt(snapshot)
        for listener in opened { worker.open(listener) }
        for listener in closed { worker.close(listener) }
        adopting.leave()
      }
      if !isPosted { adopting.leave() }
    }
    if adopting.wait(timeout: .now() + Self.adoptionTime) == .timedOut {
      shared.log.write(.warning, "a loop is busy; it follows the new configuration when it gets to it")
    }
    shared.published(snapshot)
    shared.metrics.connections.limit.set(Double(shared.descriptors.connections(snapshot.configuration.limits)))
  }

  func publishStages(_ snapshot: Snapshot) {
    defer { shared.rollout.publish(snapshot.routes) }
    shared.stages.publish(
      snapshot.routes.map { (procedure: $0.name, configured: StageSetting($0.settings)) })
    for route in snapshot.routes where !route.canServe(route.stage.setting.stage) {
      shared.stages.clear(
        route.name,
        StageOrigin(
          .file, reason: "stage \(route.stage.setting) has no upstream any more", at: WallClock.now().sinceEpoch))
    }
  }

  /// What only a restart changes and what is told of it, at each reload for as long as it is so: so that nobody waits for
  /// it. It is compared with what the process began with, not with what the last reload read.
  private func pendingRestart(_ new: GatewayConfiguration) -> [Diagnostic] {
    let position = SourcePosition(file: new.file, line: 1, column: 1)
    return RestartKey.allCases.compactMap { key in
      let isPending = key.differs(started, new)
      shared.metrics.operation.restartPending.child([key.rawValue]).set(isPending ? 1 : 0)
      guard isPending else { return nil }
      return Diagnostic(severity: .warning, at: position, "\(key.rawValue) changes with the next start only")
    }
  }

  func watchFiles(_ configuration: GatewayConfiguration) {
    let settings = configuration.watchedFiles + configuration.schemaFiles
    // Those that serve too: this configuration may be refused, and theirs are renewed meanwhile.
    var known: Set<String> = []
    let files = (settings + configuration.credentialFiles + snapshot.configuration.credentialFiles)
      .filter { known.insert($0).inserted }
    state.withLock { $0.settingsFiles = Set(settings) }
    if let watcher = state.withLock({ $0.watcher }) {
      watcher.watch(files)
      return
    }
    do throws(SystemError) {
      let watcher = try FileWatcher(files: files) { [weak self] in self?.filesChanged($0) }
      state.withLock { $0.watcher = watcher }
    } catch {
      shared.log.write(.warning, "files are not watched; reload by SIGHUP: \(error)")
    }
  }
}

/// What came of a reload, for another thread.
private final class OutcomeBox: Sendable {
  let outcome = Mutex<ReloadOutcome?>(nil)
}
