import Dispatch
import EventLoops
import Metrics
import Migration
import Synchronization

/// Remembers what lies over the files of all routes: for the next process, and for other replicas.
///
/// The registry is what calls follow. Here is the newest document of each route, whoever wrote it; a document takes
/// effect where the route is served and its file says what the writer's file said.
final class StageKeeper: Sendable {
  private let stages: StageRegistry
  private let ledger: Mutex<StageLedger>
  /// Procedures whose documents have not taken effect, because no such route was there.
  private let waiting = Mutex<Set<String>>([])
  private let startedAt: Int64
  private let log: GatewayLog
  private let errors: CounterFamily
  private let file = Mutex<StateFile?>(nil)
  private let share = Mutex<(@Sendable (StageDocument) -> Void)?>(nil)
  /// Whether a route can have a stage now.
  private let admits: @Sendable (_ procedure: String, _ setting: StageSetting) -> Bool

  init(
    stages: StageRegistry, writer: String, replica: String, log: GatewayLog, metrics: GatewayMetrics,
    admits: @escaping @Sendable (_ procedure: String, _ setting: StageSetting) -> Bool
  ) {
    self.stages = stages
    ledger = Mutex(StageLedger(writer: writer, replica: replica))
    startedAt = WallClock.now().sinceEpoch
    self.log = log
    errors = metrics.rollout.stateErrors
    self.admits = admits
  }

  /// Where a document comes from.
  private enum Source {
    /// From before this process began.
    case file
    case replica
  }

  // MARK: The file

  /// Reads what the last process left, and keeps the file from now on, in place of the one before.
  ///
  /// - Parameter path: nil: there is no file any more.
  func keep(in path: String?) {
    flush()
    guard let path else { return file.withLock { $0 = nil } }
    let file = StateFile(path: path) { [weak self] in
      // Without a keeper nothing is known, which is not the same as that nothing was set.
      (self?.documents).map { StateFileContent($0) }
    } failed: { [log, errors] operation, message in
      errors.child([operation.rawValue]).add(1, shard: 0)
      log.write(.error, message)
    }
    let content = file.read()
    file.probe()
    self.file.withLock { $0 = file }
    for document in content?.documents ?? [] where ledger.withLock({ $0.merge(document) }) {
      apply(document, from: .file)
    }
    // What was set before there was this file, and is newer than what it said.
    if documents != content?.documents ?? [] { file.changed() }
  }

  /// Tells if what will be set could not be written; for a reload, after which somebody looks.
  func probe() { file.withLock { $0 }?.probe() }

  /// Waits a moment for what was set to be in the file.
  ///
  /// - Returns: whether it is; nil when there is no file.
  func isSaved() -> Bool? { file.withLock { $0 }?.settle(within: .seconds(1)) }

  /// Writes what is not written yet; for the end of the process.
  func flush() { file.withLock { $0 }?.flush() }

  // MARK: Sharing

  /// Has each new document of this process told.
  func share(_ body: @escaping @Sendable (StageDocument) -> Void) { share.withLock { $0 = body } }

  /// A document of another replica.
  func received(_ document: StageDocument) {
    guard ledger.withLock({ $0.merge(document) }) else { return }
    file.withLock { $0 }?.changed()
    apply(document, from: .replica)
  }

  /// All that is known, by procedure.
  var documents: [StageDocument] { ledger.withLock { $0.sorted } }

  /// As which documents of this process are written; see ``StageLedger/writer``.
  var writer: String { ledger.withLock { $0.writer } }

  // MARK: Changes here

  /// What was set before this keeper was there. Each document is of the time of its change: what somebody else has set
  /// after that is newer.
  func recordAll() {
    let changed = stages.states.filter { !$0.overlay.isEmpty }.map { (procedure: $0.procedure, at: $0.changedAt) }
    for change in changed.sorted(by: { $0.at < $1.at }) { record(change.procedure, at: change.at) }
  }

  /// The registry has changed; told of what came from a document too, which then is nothing new.
  func changed(_ change: StageChangeRecord) {
    if change.origin.kind == .file, isKnownOverFile(change.procedure) {
      waiting.withLock { _ = $0.insert(change.procedure) }
    } else {
      record(change.procedure)
    }
  }

  /// Whether another replica had the route's new file before, and something lies over that there: it stays, and takes
  /// effect here when the snapshot is published.
  private func isKnownOverFile(_ procedure: String) -> Bool {
    guard let state = stages.state(of: procedure), let known = ledger.withLock({ $0.documents[procedure] }) else {
      return false
    }
    return known.configured == state.configured && !known.overlay.isEmpty
  }

  private func record(_ procedure: String, at time: Int64 = WallClock.now().sinceEpoch) {
    guard let state = stages.state(of: procedure) else { return }
    guard let document = ledger.withLock({ $0.record(state, at: time) }) else { return }
    file.withLock { $0 }?.changed()
    share.withLock { $0 }?(document)
  }

  /// A snapshot is published: documents of routes that are new, or have got the file that they were for, take effect.
  func published() {
    for procedure in waiting.withLock({ $0 }) {
      guard stages.state(of: procedure) != nil else { continue }
      waiting.withLock { _ = $0.remove(procedure) }
      if let document = ledger.withLock({ $0.documents[procedure] }) {
        apply(document, from: document.version.time < startedAt ? .file : .replica)
      }
    }
  }

  // MARK: Taking effect

  private func apply(_ document: StageDocument, from source: Source) {
    let procedure = document.procedure
    guard let state = stages.state(of: procedure) else {
      waiting.withLock { _ = $0.insert(procedure) }
      return
    }
    guard state.configured == document.configured else { return differs(document, state) }
    let overlay = document.overlay
    guard overlay != state.overlay else { return }
    if let setting = overlay.trip?.setting ?? overlay.override?.setting, !admits(procedure, setting) {
      log.write(.warning, "\(procedure) cannot have stage \(setting), which \(document.replica) set; it stays as it is")
      return
    }
    stages.restore(procedure, overlay, origin(of: document, source))
  }

  /// The file says something else than that of who wrote the document.
  ///
  /// If that was before this process began, the file has moved on, and what lay over the old one has ended. Else
  /// another replica has not got the new file yet, or this one has not: each follows its own.
  private func differs(_ document: StageDocument, _ state: StageState) {
    guard document.version.time < startedAt, !document.overlay.isEmpty else { return }
    let was = document.overlay.trip?.setting ?? document.overlay.override?.setting ?? document.configured
    log.write(
      .info, "what was set for \(document.procedure), \(was), has ended: its file says \(state.configured) now")
    record(document.procedure)
  }

  private func origin(of document: StageDocument, _ source: Source) -> StageOrigin {
    let now = WallClock.now().sinceEpoch
    let override = document.overlay.override?.origin
    let cause = document.overlay.trip?.reason ?? override?.reason ?? ""
    switch source {
    case .replica: return StageOrigin(.peer, actor: document.replica, reason: cause, at: now)
    case .file:
      let kind = document.overlay.trip == nil ? override?.kind ?? .admin : .guard
      let reason = cause.isEmpty ? "kept over a restart" : "kept over a restart: \(cause)"
      return StageOrigin(kind, actor: override?.actor ?? "", reason: reason, at: now)
    }
  }
}
