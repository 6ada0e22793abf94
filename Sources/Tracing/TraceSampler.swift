/// Which traces are recorded.
package struct TraceSampler: Sendable {
  /// Of the traces that begin here.
  private let threshold: UInt64
  private let followsParents: Bool

  /// - Parameters:
  ///   - share: parts per 10,000.
  ///   - followsParents: whether a caller's decision goes before our own.
  package init(share: Int, followsParents: Bool) {
    // By the last 63 bits of the id, so that all who sample by it with the same share choose the same traces.
    threshold = UInt64(UInt128(max(0, min(share, 10_000))) * (1 << 63) / 10_000)
    self.followsParents = followsParents
  }

  /// Whether a trace is recorded: as the caller decided, if it did and is followed; else by the trace's id.
  package func samples(_ context: TraceContext, hasParent: Bool) -> Bool {
    if hasParent, followsParents { return context.isSampled }
    return context.traceLow & (1 << 63 - 1) < threshold
  }
}

/// Makes ids of traces and spans: random as far as nobody has to be kept from guessing them.
package struct TraceIDSource: ~Copyable {
  private var state: (UInt64, UInt64)

  package init() { state = (.random(in: 1 ... .max), .random(in: .min ... .max)) }

  /// Never 0 (xoroshiro128+, Blackman and Vigna 2018).
  package mutating func next() -> UInt64 {
    while true {
      let first = state.0
      var second = state.1
      let result = first &+ second
      second ^= first
      state.0 = (first << 24 | first >> 40) ^ second ^ (second << 16)
      state.1 = second << 37 | second >> 27
      if result != 0 { return result }
    }
  }
}
