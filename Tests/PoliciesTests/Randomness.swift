/// Repeatable randomness (SplitMix64).
struct Randomness: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

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
