import Configuration
import EventLoops
import Migration
import Synchronization

/// The stages of all procedures, kept over reloads under the procedure's name.
///
/// The rules of what lies over what are ``StageState``'s. Loops only see a procedure's ``StageCell``; all else is for the
/// control plane, from any thread.
final class StageRegistry: Sendable {
  private struct Entry {
    let cell: StageCell
    var state: StageState
  }

  private let entries = Mutex<[String: Entry]>([:])
  private let observers = Mutex<[@Sendable (StageChangeRecord) -> Void]>([])

  /// Has a closure called after each change, on the thread that made it, off the loops. Changes of two threads may be
  /// told in either order: who needs the newest asks ``state(of:)``.
  func onChange(_ body: @escaping @Sendable (StageChangeRecord) -> Void) {
    observers.withLock { $0.append(body) }
  }

  // MARK: What the file says

  /// The cell of a procedure; a new one begins with what the file says.
  func cell(for procedure: String, configured: StageSetting) -> StageCell {
    entries.withLock { entries in
      if let entry = entries[procedure] { return entry.cell }
      let cell = StageCell(configured)
      entries[procedure] = Entry(cell: cell, state: StageState(procedure: procedure, configured: configured))
      return cell
    }
  }

  /// A snapshot is published: what its file changed takes effect.
  func publish(_ stages: [(procedure: String, configured: StageSetting)]) {
    let now = WallClock.now().sinceEpoch
    for (procedure, configured) in stages { change(procedure) { $0.publish(configured, at: now) } }
  }

  // MARK: Changes at run time

  /// Sets a stage until the file says something new; clears a guard's trip.
  func set(_ procedure: String, to setting: StageSetting, _ origin: StageOrigin) {
    change(procedure) { $0.set(setting, origin) }
  }

  /// Ends what was set at run time, and a guard's trip: back to the file.
  func clear(_ procedure: String, _ origin: StageOrigin) {
    change(procedure) { $0.clear(origin) }
  }

  /// A guard takes a route back, until somebody sets its stage again.
  ///
  /// - Parameters:
  ///   - judged: the revision of the state that the guard has looked at; when somebody came between, nothing is done.
  ///   - count: called if it was done, before anybody can see it.
  func trip(
    _ procedure: String, to setting: StageSetting, judged: Int? = nil, reason: String, _ count: () -> Void = {}
  ) {
    change(procedure) { state in
      let record = state.trip(to: setting, judged: judged, reason: reason, at: WallClock.now().sinceEpoch)
      if record != nil { count() }
      return record
    }
  }

  /// A ramp goes on, unless somebody came between.
  func advance(_ procedure: String, from before: StageSetting, to setting: StageSetting, _ origin: StageOrigin) {
    change(procedure) { $0.advance(from: before, to: setting, origin) }
  }

  /// Stops a ramp or lets it go on; a guard goes on watching.
  func hold(_ procedure: String, _ isHeld: Bool, _ origin: StageOrigin) {
    change(procedure) { $0.hold(isHeld, origin) }
  }

  /// What a state file or another replica knows; procedures that are not there are left out.
  func restore(_ procedure: String, _ overlay: StageState.Overlay, _ origin: StageOrigin) {
    change(procedure) { $0.restore(overlay, origin) }
  }

  private func change(_ procedure: String, _ body: (inout StageState) -> StageChangeRecord?) {
    let record: StageChangeRecord? = entries.withLock { entries in
      guard var entry = entries[procedure], let record = body(&entry.state) else { return nil }
      entries[procedure] = entry
      entry.cell.store(StageCell.Content(setting: entry.state.effective, isTripped: entry.state.trip != nil))
      return record
    }
    guard let record else { return }
    for observer in observers.withLock({ $0 }) { observer(record) }
  }

  // MARK: Looking

  func state(of procedure: String) -> StageState? { entries.withLock { $0[procedure]?.state } }

  /// Of every procedure that was ever configured, by name.
  var states: [StageState] {
    entries.withLock { $0.values.map(\.state) }.sorted { $0.procedure < $1.procedure }
  }
}
