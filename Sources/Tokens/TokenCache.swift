/// What was found out about tokens, by their digest: bounded, the older half forgotten when it is full.
///
/// For one thread. An entry is good until its token expires or its issuer's keys have changed.
package struct TokenCache<Value> {
  private struct Entry {
    var value: Value
    /// Seconds since 1970.
    var validUntil: Double
    /// Of the keys that it was checked with.
    var generation: Int
  }

  private var young: [TokenDigest: Entry] = [:]
  private var old: [TokenDigest: Entry] = [:]
  private let half: Int

  /// - Parameter limit: entries at the same time.
  package init(limit: Int) { half = max(1, limit / 2) }

  package var count: Int { young.count + old.count }

  /// - Parameters:
  ///   - generation: of the issuer's keys at present.
  ///   - now: seconds since 1970.
  package mutating func value(for token: TokenDigest, generation: Int, at now: Double) -> Value? {
    if let entry = young[token] {
      if entry.generation == generation, now < entry.validUntil { return entry.value }
      young[token] = nil
      return nil
    }
    guard let entry = old.removeValue(forKey: token), entry.generation == generation, now < entry.validUntil else {
      return nil
    }
    insert(entry, token)
    return entry.value
  }

  /// Remembers what a good token says; when there is no room, those that were not asked for are forgotten.
  ///
  /// - Parameters:
  ///   - validUntil: seconds since 1970.
  ///   - generation: of the keys that it was checked with; a value of another one is not given out.
  package mutating func insert(_ value: Value, for token: TokenDigest, validUntil: Double, generation: Int) {
    insert(Entry(value: value, validUntil: validUntil, generation: generation), token)
  }

  private mutating func insert(_ entry: Entry, _ token: TokenDigest) {
    if young.count >= half {
      swap(&young, &old)
      young.removeAll(keepingCapacity: true)
    }
    young[token] = entry
  }
}
