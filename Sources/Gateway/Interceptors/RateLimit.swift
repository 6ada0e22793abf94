import Bytes
import Configuration
import EventLoops
import HTTPModel
import Policies
import RPC

/// `rate_limit`: a token bucket for each caller, route or header value, over all loops of the process, or over all
/// replicas.
struct RateLimit: Interceptor {
  private let limiter: RateLimiter
  /// Nil: the buckets are those of this process.
  let shared: SharedLimit?
  let key: RateLimitConfiguration.Key
  /// The header of ``RateLimitConfiguration/Key/header(_:)``.
  let header: [UInt8]

  init(limiter: RateLimiter, key: RateLimitConfiguration.Key, shared: SharedLimit? = nil) {
    self.limiter = limiter
    self.shared = shared
    self.key = key
    if case .header(let name) = key { header = Array(name.utf8) } else { header = [] }
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    if let shared, call.onRequest == nil { return ask(shared, call) }
    return decide(call)
  }

  /// By the bucket of this process.
  func decide(_ call: Call) -> InterceptorVerdict {
    verdict(limiter.take(hash(of: call), at: call.worker.loop.now.nanoseconds), call)
  }

  func verdict(_ outcome: TokenBucket.Outcome, _ call: Call) -> InterceptorVerdict {
    switch outcome {
    case .taken: return .proceed
    case .refused(let wait):
      call.worker.countRateLimited(call)
      return .refuse(refusal(call, wait: wait))
    }
  }

  /// The process's hash has a secret seed, so nobody can make keys that meet.
  private func hash(of call: Call) -> UInt64 {
    var hasher = Hasher()
    switch key {
    case .none: return 0
    case .route: hasher.combine(call.route?.plan.procedure ?? "")
    case .client: hasher.combine(call.remoteAddress?.network)
    case .header:
      if let index = call.head.fields.firstIndex(of: header.span) {
        hasher.combine(true)
        call.head.fields.withValue(at: index) { value in value.withUnsafeBytes { hasher.combine(bytes: $0) } }
      } else {
        hasher.combine(false)
        hasher.combine(call.remoteAddress?.network)
      }
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// The exact wait goes into the detail, whole seconds into the headers.
  private func refusal(_ call: Call, wait: UInt64) -> RPCError {
    let seconds = (wait / 1_000_000_000) + (wait % 1_000_000_000 == 0 ? 0 : 1)
    var error = RPCError(
      .resourceExhausted, "too many requests; the next is taken in \(seconds) s",
      details: [.retryInfo(seconds: wait / 1_000_000_000, nanoseconds: wait % 1_000_000_000)],
      headers: [("retry-after", "\(seconds)")])
    if call.face.kind == .rest {
      error.headers += [
        ("ratelimit-limit", "\(limiter.rate.requests)"), ("ratelimit-remaining", "0"),
        ("ratelimit-reset", "\(seconds)"),
      ]
    }
    return error
  }
}
