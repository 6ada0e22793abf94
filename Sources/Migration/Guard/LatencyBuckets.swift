/// Latencies by size: four buckets for each doubling from 0.26 ms to 17 s, so that a quantile is known within a quarter.
package enum LatencyBuckets {
  package static let count = 64
  /// The exponent of the first bucket's bound, in nanoseconds.
  private static let first = 18

  package static func bucket(of nanoseconds: UInt64) -> Int {
    let exponent = 63 - (nanoseconds | 1).leadingZeroBitCount
    guard exponent >= first else { return 0 }
    // The two bits behind the first one.
    let part = Int(truncatingIfNeeded: nanoseconds >> UInt64(exponent - 2)) & 3
    return Swift.min((exponent - first) << 2 | part, count - 1)
  }

  /// Where a bucket begins, in nanoseconds; the first begins at 0.
  package static func start(of bucket: Int) -> UInt64 {
    if bucket <= 0 { return 0 }
    let exponent = first + bucket >> 2
    return UInt64(4 + bucket & 3) << UInt64(exponent - 2)
  }
}
