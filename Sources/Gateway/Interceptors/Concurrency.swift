import Configuration
import Policies
import RPC

/// `concurrency`: so many calls of each key at the same time, over all loops of the process.
struct Concurrency: Interceptor {
  private let limiter: ConcurrencyLimiter
  private let key: LimitKeys

  init(_ configuration: ConcurrencyConfiguration, limiter: ConcurrencyLimiter) {
    self.limiter = limiter
    key = LimitKeys(configuration.key)
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    let hash = key.hash(of: call)
    guard limiter.enter(hash) else {
      call.worker.countRateLimited(call)
      return .refuse(
        RPCError(
          .resourceExhausted, "as many calls as may run at the same time are running", headers: [("retry-after", "1")]))
    }
    call.permits.append(ConcurrencyPermit(limiter: limiter, key: hash))
    return .proceed
  }

  func onEnd(_ call: Call) {
    // Innermost first, as they were given. A call that was refused here has none of this limiter.
    guard let permit = call.permits.last, permit.limiter === limiter else { return }
    call.permits.removeLast()
    permit.limiter.leave(permit.key)
  }
}

/// A call is counted in; it has to be counted out.
struct ConcurrencyPermit {
  let limiter: ConcurrencyLimiter
  let key: UInt64
}
