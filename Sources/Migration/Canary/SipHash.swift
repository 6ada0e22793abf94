/// SipHash-2-4 (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012): the same for every process and version, which
/// Swift's own hash is not.
enum SipHash {
  /// - Parameter key: its two halves, little-endian as the paper has them.
  static func hash(_ bytes: Span<UInt8>, key: (UInt64, UInt64)) -> UInt64 {
    var state = State(key)
    var offset = 0
    while offset + 8 <= bytes.count {
      var word: UInt64 = 0
      for index in 0..<8 { word |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
      state.absorb(word)
      offset += 8
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    for index in offset..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - offset)) }
    state.absorb(last)
    return state.finish()
  }

  private struct State {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736F_6D65_7073_6575
      v1 = key.1 ^ 0x646F_7261_6E64_6F6D
      v2 = key.0 ^ 0x6C79_6765_6E65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xFF
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
      v0 &+= v1
      v1 = rotated(v1, 13) ^ v0
      v0 = rotated(v0, 32)
      v2 &+= v3
      v3 = rotated(v3, 16) ^ v2
      v0 &+= v3
      v3 = rotated(v3, 21) ^ v0
      v2 &+= v1
      v1 = rotated(v1, 17) ^ v2
      v2 = rotated(v2, 32)
    }

    private func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
  }
}
