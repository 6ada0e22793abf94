import EventLoops
import JSONValues
import Migration
import Synchronization

/// The last changes of stages in memory, of all routes together, and the last reloads: for `GET /audit` and the page,
/// whether there is an audit log or not. A route's own history is in its ``StageState``.
///
/// It numbers all events from 1. That is their order: two may have one time, or come from threads that overtook each other.
final class AuditTrail: Sendable {
  /// Changes that are kept: some weeks of a busy migration, or one reload of a large file. Each has a bounded size.
  static let capacity = 500

  private struct Numbered<Record: Sendable> {
    let sequence: UInt64
    let record: Record
  }

  private struct Ring {
    var sequence: UInt64 = 0
    var records: [Numbered<StageChangeRecord>] = []
    /// Where the oldest one is, when the ring is full.
    var start = 0
    /// All that were ever told.
    var total: UInt64 = 0

    /// Oldest first.
    var reloads: [Numbered<ReloadRecord>] = []

    var newestFirst: [Numbered<StageChangeRecord>] { (records[start...] + records[..<start]).reversed() }

    mutating func next() -> UInt64 {
      sequence += 1
      return sequence
    }
  }

  private let ring = Mutex(Ring())

  /// Reloads that are kept.
  static let reloadCapacity = 50

  /// - Parameter tell: called with the event's number before there can be another one, so that who writes events down has
  ///   them in the same order; it must not come back here.
  func append(_ record: ReloadRecord, _ tell: (UInt64) -> Void = { _ in }) {
    ring.withLock { ring in
      let event = Numbered(sequence: ring.next(), record: record)
      if ring.reloads.count == Self.reloadCapacity {
        // Anybody can bring refused ones about; they push out each other, not what happened.
        ring.reloads.remove(at: ring.reloads.firstIndex { $0.record.outcome == .refused } ?? ring.reloads.startIndex)
      }
      ring.reloads.append(event)
      tell(event.sequence)
    }
  }

  /// - Parameter tell: as above.
  func append(_ record: StageChangeRecord, _ tell: (UInt64) -> Void = { _ in }) {
    ring.withLock { ring in
      let event = Numbered(sequence: ring.next(), record: record)
      ring.total += 1
      if ring.records.count == Self.capacity {
        ring.records[ring.start] = event
        ring.start = (ring.start + 1) % Self.capacity
      } else {
        ring.records.append(event)
      }
      tell(event.sequence)
    }
  }

  /// The body of `GET /audit`: `{"replica", "now", "total", "changes": […], "reloads": […]}`, newest first. `total`
  /// counts those changes too that are not kept any more.
  func json(replica: String) -> JSONValue {
    let (total, records, reloads) = ring.withLock { ($0.total, $0.newestFirst, $0.reloads) }
    return [
      "replica": .string(replica), "now": .time(sinceEpoch: WallClock.now().sinceEpoch), "total": .integer(total),
      "changes": .array(
        records.map { .object($0.record.place(replica, $0.sequence) + $0.record.members) }),
      "reloads": .array(
        reloads.reversed().map { .object($0.record.place(replica, $0.sequence) + $0.record.members) }),
    ]
  }
}
