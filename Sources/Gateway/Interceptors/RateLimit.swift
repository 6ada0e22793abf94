import Bytes
import Configuration
import EventLoops
import HTTPModel
import Policies
import RPC

/// `rate_limit`: a token bucket for each caller, route or header value, over all loops of the process.
struct RateLimit: Interceptor {
  private let limiter: RateLimiter
  private let key: RateLimitConfiguration.Key
  /// The header of ``RateLimitConfiguration/Key/header(_:)``.
  private let header: [UInt8]

  init(limiter: RateLimiter, key: RateLimitConfiguration.Key) {
    self.limiter = limiter
    self.key = key
    if case .header(let name) = key { header = Array(name.utf8) } else { header = [] }
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    switch limiter.take(hash(of: call), at: call.worker.loop.now.nanoseconds) {
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
