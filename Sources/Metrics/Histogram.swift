import Synchronization

/// Durations by bucket, with their sum.
public final class Histogram: Sendable {
  /// Buckets that a histogram can have, the one without a bound included.
  static let maximumBuckets = 24

  /// The counts and the sum of one shard; far greater than a cache line, with room at both ends.
  private final class Shard: Sendable {
    private let before: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    let counts: InlineArray<24, Atomic<UInt64>> = InlineArray { _ in Atomic(0) }
    let nanoseconds = Atomic<UInt64>(0)
    private let after: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
  }

  /// Upper bounds in nanoseconds, ascending, each inclusive; the bucket without a bound is not among them.
  private let bounds: [UInt64]
  private let shards: [Shard]

  init(bounds: [UInt64], shards: Int) {
    self.bounds = bounds
    self.shards = (0..<max(1, shards)).map { _ in Shard() }
  }

  /// Counts one duration; negative ones and NaN count as 0.
  public func observe(seconds: Double, shard: Int) {
    observe(nanoseconds: Self.nanoseconds(seconds), shard: shard)
  }

  /// Counts one duration: neither locks nor allocates.
  public func observe(nanoseconds: UInt64, shard: Int) {
    let cells = shards[shards.indices.contains(shard) ? shard : 0]
    var bucket = 0
    while bucket < bounds.count, nanoseconds > bounds[bucket] { bucket &+= 1 }
    cells.counts[bucket].wrappingAdd(1, ordering: .relaxed)
    cells.nanoseconds.wrappingAdd(nanoseconds, ordering: .relaxed)
  }

  /// What was observed in each bucket (not cumulative), the one without a bound last, and the sum in nanoseconds.
  public var observed: (counts: [UInt64], nanoseconds: UInt64) {
    var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    var nanoseconds: UInt64 = 0
    for shard in shards {
      for bucket in counts.indices { counts[bucket] &+= shard.counts[bucket].load(ordering: .relaxed) }
      nanoseconds &+= shard.nanoseconds.load(ordering: .relaxed)
    }
    return (counts, nanoseconds)
  }

  /// Seconds as nanoseconds, as near as they go.
  static func nanoseconds(_ seconds: Double) -> UInt64 {
    guard seconds > 0 else { return 0 }
    return UInt64(exactly: min((seconds * 1e9).rounded(), 9e18)) ?? 0
  }
}
