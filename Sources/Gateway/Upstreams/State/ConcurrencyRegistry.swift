import Policies
import Synchronization

/// How many calls of a method are under way, for all loops and over reloads; by procedure.
final class ConcurrencyRegistry: Sendable {
  private let quotas = Mutex<[String: Quota]>([:])

  func quota(_ procedure: String) -> Quota {
    quotas.withLock { quotas in
      if let known = quotas[procedure] { return known }
      let quota = Quota()
      quotas[procedure] = quota
      return quota
    }
  }
}

/// `concurrency:` of one route.
struct ConcurrencyLimit: Sendable {
  let quota: Quota
  let limit: Int
}
