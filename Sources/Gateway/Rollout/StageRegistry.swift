import Configuration
import Synchronization

/// The stage of one procedure as it stands now, for all loops; read once per call.
final class StageCell: Sendable {
  private let raw: Atomic<UInt8>

  init(_ stage: RouteSettings.Stage) { raw = Atomic(stage.number) }

  var stage: RouteSettings.Stage {
    get {
      switch raw.load(ordering: .relaxed) {
      case 0: .rest
      case 1: .shadow
      default: .rpc
      }
    }
    set { raw.store(newValue.number, ordering: .relaxed) }
  }
}

extension RouteSettings.Stage {
  /// For where a text would be too much: an atomic, the key of a counter.
  var number: UInt8 {
    switch self {
    case .rest: 0
    case .shadow: 1
    case .rpc: 2
    }
  }
}

/// The stages of all procedures, kept over reloads under the procedure's name.
///
/// The file is the desired state and a runtime change lies over it: a reload whose file says the same as before leaves
/// the change alone, one that says something new ends it.
final class StageRegistry: Sendable {
  private struct Entry {
    var cell: StageCell
    /// What the newest published file says.
    var configured: RouteSettings.Stage
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// The cell of a procedure; a new one begins with what the file says.
  func cell(for procedure: String, configured: RouteSettings.Stage) -> StageCell {
    entries.withLock { entries in
      if let entry = entries[procedure] { return entry.cell }
      let cell = StageCell(configured)
      entries[procedure] = Entry(cell: cell, configured: configured)
      return cell
    }
  }

  /// A snapshot is published: what its file changed takes effect.
  func publish(_ stages: [(procedure: String, configured: RouteSettings.Stage)]) {
    entries.withLock { entries in
      for (procedure, configured) in stages {
        guard let entry = entries[procedure], entry.configured != configured else { continue }
        entries[procedure]?.configured = configured
        entry.cell.stage = configured
      }
    }
  }
}
