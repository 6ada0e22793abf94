import EventLoops
import JSONValues
import Migration
import Synchronization

/// The last changes of stages in memory, of all routes together, and the last reloads: for `GET /audit` and the page,
/// whether there is an audit log or not. A route's own history is in its ``StageState``.
final class AuditTrail: Sendable {
  /// Changes that are kept: some weeks of a busy migration, or one reload of a large file. Each has a bounded size.
  static let capacity = 500

  private struct Ring {
    var records: [StageChangeRecord] = []
    /// Where the oldest one is, when the ring is full.
    var start = 0
    /// All that were ever told.
    var total: UInt64 = 0

    /// Oldest first.
    var reloads: [ReloadRecord] = []

    var newestFirst: [StageChangeRecord] { (records[start...] + records[..<start]).reversed() }
  }

  private let ring = Mutex(Ring())

  /// Reloads that are kept.
  private static let reloadCapacity = 50

  func append(_ record: ReloadRecord) {
    ring.withLock { ring in
      if ring.reloads.count == Self.reloadCapacity { ring.reloads.removeFirst() }
      ring.reloads.append(record)
    }
  }

  func append(_ record: StageChangeRecord) {
    ring.withLock { ring in
      ring.total += 1
      guard ring.records.count == Self.capacity else { return ring.records.append(record) }
      ring.records[ring.start] = record
      ring.start = (ring.start + 1) % Self.capacity
    }
  }

  /// Newest first.
  var records: [StageChangeRecord] {
    ring.withLock { $0.newestFirst }
  }

  /// The body of `GET /audit`: `{"replica", "now", "total", "changes": […], "reloads": […]}`, newest first. `total`
  /// counts those changes too that are not kept any more.
  func json(replica: String) -> JSONValue {
    let (total, records, reloads) = ring.withLock { ($0.total, $0.newestFirst, $0.reloads) }
    return [
      "replica": .string(replica), "now": .time(sinceEpoch: WallClock.now().sinceEpoch), "total": .integer(total),
      "changes": .array(
        records.map { .object($0.place(replica) + $0.members) }),
      "reloads": .array(reloads.reversed().map { .object($0.place(replica) + $0.members) }),
    ]
  }
}
