import Bytes

/// A set of secret keys, asked without telling by its time how near a wrong one comes.
///
/// A key is found by a hash with the process's secret seed, so where the search goes tells a caller nothing; what is
/// found there is compared whole, however early it differs.
package struct KeyTable: Sendable {
  private var buckets: [[[UInt8]]]

  package init(_ keys: some Sequence<String>) {
    let unique = Set(keys.map { Array($0.utf8) })
    var size = 8
    while size < unique.count { size *= 2 }
    buckets = Array(repeating: [], count: size)
    for key in unique {
      let at = Self.hash(key.span) & (size - 1)
      buckets[at].append(key)
    }
  }

  package func contains(_ key: Span<UInt8>) -> Bool {
    var found = false
    for known in buckets[Self.hash(key) & (buckets.count - 1)] where SecretComparison.equal(known.span, key) {
      found = true
    }
    return found
  }

  private static func hash(_ bytes: Span<UInt8>) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
