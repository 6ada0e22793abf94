import Synchronization

/// One number of one shard, alone on its cache lines.
///
/// Each loop adds to the cell of its own shard, so cores never pull a line from each other; the fields around the
/// number keep neighbours on the heap at least 64 bytes away.
final class Cell: Sendable {
  private let before: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
  let value = Atomic<UInt64>(0)
  private let after: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
}

/// A sum that many threads add to without meeting: relaxed, lock-free, no allocation.
struct ShardedSum: Sendable {
  private let cells: [Cell]

  init(shards: Int) {
    cells = (0..<max(1, shards)).map { _ in Cell() }
  }

  /// Adds; numbers wrap, so a negative one is added as its two's complement. A foreign shard counts as the first.
  func add(_ amount: UInt64, shard: Int) {
    cells[cells.indices.contains(shard) ? shard : 0].value.wrappingAdd(amount, ordering: .relaxed)
  }

  var total: UInt64 {
    cells.reduce(0) { $0 &+ $1.value.load(ordering: .relaxed) }
  }
}
