import Synchronization

/// One limit for the whole process: a bucket for each key, in shards that lock each other out as little as possible.
package final class RateLimiter: Sendable {
  private final class Shard: Sendable {
    let table: Mutex<BucketTable>

    init(capacity: Int) { table = Mutex(BucketTable(capacity: capacity)) }
  }

  package let rate: Rate
  private let shards: [Shard]

  /// Small tables are kept whole, so that few keys do not fill one shard while another is empty.
  private static let smallest = 4096
  private static let mostShards = 16

  /// - Parameter maximumKeys: keys that are told apart at the same time, over all shards; less than 1 counts as 1.
  package init(rate: Rate, maximumKeys: Int) {
    self.rate = rate
    let count = maximumKeys < Self.smallest ? 1 : Self.mostShards
    shards = (0..<count).map { _ in Shard(capacity: maximumKeys / count) }
  }

  /// Takes tokens of a key: all of them, or none.
  ///
  /// - Parameters:
  ///   - key: a hash with a secret seed, so that nobody can choose keys that meet.
  ///   - now: nanoseconds of a monotonic clock; the loops' clocks may differ a little.
  package func take(_ key: UInt64, at now: UInt64, cost: Int = 1) -> TokenBucket.Outcome {
    withTable(of: key) { $0.take(key, at: now, rate, cost: cost) }
  }

  /// How full the bucket of a key is.
  package func standing(_ key: UInt64, at now: UInt64) -> RateStanding {
    withTable(of: key) { $0.bucket(of: key, at: now).standing(at: now, rate) }
  }

  /// Runs something on the table of a key, with nobody else at it.
  func withTable<R: Sendable>(of key: UInt64, _ body: (inout sending BucketTable) -> sending R) -> R {
    // The upper bits: the dictionary inside uses a hash of its own.
    let shard = shards[Int(truncatingIfNeeded: key >> 40) & (shards.count - 1)]
    return shard.table.withLock(body)
  }

  /// Keys that have a bucket at present.
  package var count: Int { shards.reduce(0) { $0 + $1.table.withLock { $0.count } } }
}
