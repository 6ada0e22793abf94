/// When an endpoint is left out for its answers.
package struct EjectionRules: Sendable, Equatable {
  package var consecutiveFailures: Int
  /// Nanoseconds, the first time and at most.
  package var base: UInt64
  package var longest: UInt64
  /// Parts per 10,000 of the endpoints that may be out at the same time.
  package var mostEjected: Int

  package init(consecutiveFailures: Int, base: UInt64, longest: UInt64, mostEjected: Int) {
    self.consecutiveFailures = max(1, consecutiveFailures)
    self.base = max(1, base)
    self.longest = max(self.base, longest)
    self.mostEjected = mostEjected
  }

  /// Of several, one may always be out (unless the share is 0): a share that rounds down to none would be a trap. An
  /// only one never is.
  func allows(ejected: Int, of total: Int) -> Bool {
    guard mostEjected > 0, total > 1, ejected < total else { return false }
    return ejected == 1 || ejected * 10_000 <= total * mostEjected
  }
}

/// The answers to one endpoint's checks, in a row.
package struct HealthStreak: Sendable {
  /// Nil: not known yet.
  package private(set) var isHealthy: Bool?
  private var good = 0
  private var bad = 0

  package init() {}

  /// Takes the outcome of one check. The first good one is enough for an endpoint of which nothing is known.
  ///
  /// - Returns: whether the endpoint has become well or ill by it; nil: neither.
  package mutating func observe(_ isGood: Bool, healthy: Int, unhealthy: Int) -> Bool? {
    if isGood { (good, bad) = (min(good + 1, healthy), 0) } else { (good, bad) = (0, min(bad + 1, unhealthy)) }
    let needed = isHealthy == nil ? 1 : healthy
    if isGood, isHealthy != true, good >= needed {
      isHealthy = true
      return true
    }
    if !isGood, isHealthy != false, bad >= unhealthy {
      isHealthy = false
      return false
    }
    return nil
  }
}
