/// A number that only grows: one child of a family, with its label values.
///
/// Get it once and hold it; adding neither locks nor allocates.
public final class Counter: Sendable {
  private let sum: ShardedSum

  init(shards: Int) {
    sum = ShardedSum(shards: shards)
  }

  /// - Parameter shard: the loop's number, as many as the registry was made for.
  public func add(_ amount: UInt64 = 1, shard: Int) {
    sum.add(amount, shard: shard)
  }

  /// The total of all shards.
  public var value: UInt64 { sum.total }
}
