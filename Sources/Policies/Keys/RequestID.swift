/// What names a request in logs on both sides.
package enum RequestID {
  /// Whether a caller's own is kept: 1 to 128 characters of `[A-Za-z0-9._-]`.
  package static func isAcceptable(_ text: Span<UInt8>) -> Bool {
    guard (1...128).contains(text.count) else { return false }
    for index in text.indices where !isAcceptable(text[index]) { return false }
    return true
  }

  private static func isAcceptable(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// Makes request ids: unique among all that were ever made, as far as 64 random bits and a counter go; no secrets.
package struct RequestIDSource: ~Copyable {
  private let seed: UInt64
  private var counter: UInt64

  package init() {
    seed = .random(in: .min ... .max)
    counter = .random(in: .min ... .max)
  }

  init(seed: UInt64, counter: UInt64) {
    self.seed = seed
    self.counter = counter
  }

  /// 32 hexadecimal digits, the next each time.
  package mutating func next() -> [UInt8] {
    counter &+= 1
    var digits: [UInt8] = []
    digits.reserveCapacity(32)
    // The second half alone never repeats, because the mixing loses nothing.
    Self.append(Self.mix(seed ^ counter), to: &digits)
    Self.append(Self.mix(counter), to: &digits)
    return digits
  }

  /// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a permutation of the 64-bit numbers.
  private static func mix(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  private static func append(_ value: UInt64, to digits: inout [UInt8]) {
    for shift in stride(from: 60, through: 0, by: -4) {
      let nibble = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 0xF
      digits.append(nibble < 10 ? nibble + UInt8(ascii: "0") : nibble - 10 + UInt8(ascii: "a"))
    }
  }
}
