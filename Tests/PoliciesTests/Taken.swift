/// When events were taken.
struct Taken {
  var times: [UInt64] = []

  /// Whether over every window at most `burst + length · requests / period` events were taken.
  func fits(requests: Int, period: Int64, burst: Int) -> Bool {
    // More events than that from i to j would mean j - i + 1 - burst > (t[j] - t[i]) · r / p; with both sides times p
    // it is enough to know the least of t[i] · r - i · p so far.
    var most: Int128 = .min
    for (index, time) in times.enumerated() {
      let level = Int128(time) * Int128(requests) - Int128(index) * Int128(period)
      most = max(most, level)
      if (Int128(1) - Int128(burst)) * Int128(period) + most > level { return false }
    }
    return true
  }
}
