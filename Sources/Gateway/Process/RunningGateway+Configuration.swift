import Configuration
import Diagnostics
import EventLoops
import JSONValues
import Synchronization

/// What is known of the configuration that serves, besides itself.
struct ConfigurationStatus: Sendable {
  /// One event that replaced it, or was to.
  struct Reload: Sendable {
    var record: ReloadRecord
    /// All faults and warnings that it gave.
    var diagnostics: [Diagnostic]
  }

  /// When it was taken over: nanoseconds since 1970.
  var since: Int64
  /// Found in its files: they hold until these are read anew.
  var warnings: [Diagnostic]
  /// Found in files of keys and certificates, or by comparing it with the schema.
  var compiledWarnings: [Diagnostic]
  /// Nil: there was none yet. Requests that were refused for who made them are none.
  var lastReload: Reload?
  /// Grows with each change of all this.
  var revision = 1

  init(warnings: [Diagnostic], compiled: [Diagnostic]) {
    since = WallClock.now().sinceEpoch
    self.warnings = warnings
    compiledWarnings = compiled
  }

  /// Another one was taken over.
  mutating func published(warnings: [Diagnostic], compiled: [Diagnostic]) {
    since = WallClock.now().sinceEpoch
    self.warnings = warnings
    renewed(compiled)
  }

  /// Its files of keys and certificates were read anew.
  mutating func renewed(_ compiled: [Diagnostic]) {
    compiledWarnings = compiled.filter { $0.severity != .error }
    revision += 1
  }

  mutating func reloaded(_ record: ReloadRecord, _ diagnostics: [Diagnostic]) {
    lastReload = Reload(record: record, diagnostics: diagnostics)
    revision += 1
  }
}

extension RunningGateway {
  /// The body of `GET /config`: `{"replica", "now", "file", "hash", "since", "warnings": […], "restart_pending": […],
  /// "reload_pending", "last_reload"}`. The last is null when there was none, else the event as `GET /audit` has it,
  /// without `replica` and `sequence` and with its `diagnostics`.
  func config() -> [UInt8] {
    let (snapshot, status, isReloadPending) = state.withLock { ($0.snapshot, $0.status, $0.isReloadPending) }
    let pending = RestartKey.allCases.filter { $0.differs(started, snapshot.configuration) }
    let budget = shared.descriptors.warning(serving: snapshot.configuration)
    let warnings = status.warnings + status.compiledWarnings + (budget.map { [$0] } ?? [])
    let value: JSONValue = [
      "replica": .string(replica), "now": .time(sinceEpoch: WallClock.now().sinceEpoch), "file": .string(configPath),
      "hash": .string(snapshot.hash), "since": .time(sinceEpoch: status.since),
      "warnings": .array(warnings.map(\.json)),
      "restart_pending": .array(pending.map { .string($0.rawValue) }), "reload_pending": .bool(isReloadPending),
      "last_reload": status.lastReload.map(\.json) ?? .null,
    ]
    return value.bytes
  }

  /// For `GET /routes`: which configuration serves, and a number that changes when `GET /config` has something new.
  var configurationMark: JSONValue {
    let (hash, revision, isPending) = state.withLock { ($0.snapshot.hash, $0.status.revision, $0.isReloadPending) }
    return ["hash": .string(hash), "revision": .integer(revision), "reload_pending": .bool(isPending)]
  }
}

extension ConfigurationStatus.Reload {
  fileprivate var json: JSONValue {
    let diagnostics = diagnostics.map { diagnostic in
      guard case .object(let members) = diagnostic.json else { return diagnostic.json }
      return JSONValue.object([.init("severity", .string(diagnostic.severity.rawValue))] + members)
    }
    return .object(
      [.init("time", .time(sinceEpoch: record.at))] + record.members + [.init("diagnostics", .array(diagnostics))])
  }
}
