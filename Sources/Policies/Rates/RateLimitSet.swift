/// Several limits of which a call has to pass all: what one refuses no other is charged for.
package struct RateLimitSet: Sendable {
  /// What became of a call.
  package enum Decision: Sendable, Equatable {
    case taken
    /// By the limit of this index; nanoseconds until it would take the call, if nobody else calls. Of several limits
    /// that refuse the one with the longest wait.
    case refused(limit: Int, wait: UInt64)
  }

  package let limiters: [RateLimiter]
  /// Their indices as they are locked: the same order in every set. The sets of two configurations, of which one names
  /// the same limits in another order, are both in use for a moment after a reload.
  private let order: [Int]

  /// - Parameter limiters: all different ones: each is locked while the next ones are asked.
  package init(_ limiters: [RateLimiter]) {
    self.limiters = limiters
    order = limiters.indices.sorted { ObjectIdentifier(limiters[$0]) < ObjectIdentifier(limiters[$1]) }
  }

  /// Takes the tokens of every limit, or of none.
  ///
  /// - Parameter key: of the limit of an index; asked at most twice for each.
  package func take(cost: Int, at now: UInt64, key: (Int) -> UInt64) -> Decision {
    // The one limit of most.
    guard limiters.count > 1 else {
      guard let only = limiters.first, case .refused(let wait) = only.take(key(0), at: now, cost: cost) else {
        return .taken
      }
      return .refused(limit: 0, wait: wait)
    }
    return take(from: 0, cost, now, key, .taken)
  }

  /// Asks the limits from a place of the order on, each inside the lock of the one before, and charges them on the way
  /// back. The order is always the same, so nobody waits in a circle.
  private func take(
    from place: Int, _ cost: Int, _ now: UInt64, _ key: (Int) -> UInt64, _ soFar: Decision
  ) -> Decision {
    guard place < order.count else { return soFar }
    let index = order[place]
    let limiter = limiters[index]
    let own = key(index)
    return limiter.withTable(of: own) { table in
      var bucket = table.bucket(of: own, at: now)
      var decision = soFar
      if case .refused(let wait) = bucket.take(at: now, limiter.rate, cost: cost) {
        if case .refused(let other, let longest) = soFar, (longest, -other) > (wait, -index) {
        } else {
          decision = .refused(limit: index, wait: wait)
        }
      }
      decision = take(from: place + 1, cost, now, key, decision)
      if decision == .taken { _ = table.take(own, at: now, limiter.rate, cost: cost) }
      return decision
    }
  }
}
