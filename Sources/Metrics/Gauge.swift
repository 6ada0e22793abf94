import Synchronization

/// A number that goes up and down.
///
/// What was ``set(_:)`` and what was ``add(_:shard:)``-ed make the value together; one gauge is used one way.
public final class Gauge: Sendable {
  private let deltas: ShardedSum
  /// The bits of the Double that was set last.
  private let base = Atomic<UInt64>(0)

  init(shards: Int) {
    deltas = ShardedSum(shards: shards)
  }

  /// Counts up, or down with a negative amount. Up and down may come from different shards.
  public func add(_ amount: Int = 1, shard: Int) {
    deltas.add(UInt64(bitPattern: Int64(amount)), shard: shard)
  }

  public func set(_ value: Double) {
    base.store(value.bitPattern, ordering: .relaxed)
  }

  public var value: Double {
    Double(bitPattern: base.load(ordering: .relaxed)) + Double(Int64(bitPattern: deltas.total))
  }
}
