import Synchronization

/// The limits of the process under what they are, so that a reload of an unchanged limit finds its buckets as they were.
///
/// It holds nothing by itself: a limit lives as long as a plan that uses it.
package final class RateLimiterRegistry: Sendable {
  /// What makes two limits the same one.
  package struct Identity: Hashable, Sendable {
    /// Where the limit stands: all routes, a service, a procedure.
    package var scope: String
    package var rate: Rate
    /// What tells callers apart, as the configuration says it.
    package var key: String
    package var maximumKeys: Int
    /// Which one of several that are otherwise the same.
    package var number: Int

    package init(scope: String, rate: Rate, key: String, maximumKeys: Int, number: Int) {
      self.scope = scope
      self.rate = rate
      self.key = key
      self.maximumKeys = maximumKeys
      self.number = number
    }
  }

  private struct Entry: Sendable {
    weak var limiter: RateLimiter?
  }

  private let entries = Mutex<[Identity: Entry]>([:])

  package init() {}

  /// The limiter of an identity: the one in use, or a fresh one.
  package func limiter(for identity: Identity) -> RateLimiter {
    entries.withLock { entries in
      if let known = entries[identity]?.limiter { return known }
      entries = entries.filter { $0.value.limiter != nil }
      let limiter = RateLimiter(rate: identity.rate, maximumKeys: identity.maximumKeys)
      entries[identity] = Entry(limiter: limiter)
      return limiter
    }
  }

  /// Limits in use.
  package var count: Int { entries.withLock { $0.values.filter { $0.limiter != nil }.count } }
}
