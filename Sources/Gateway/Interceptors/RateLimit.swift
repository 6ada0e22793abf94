import Configuration
import EventLoops
import HTTPModel
import Policies
import RPC

/// `rate_limit`: token buckets for each caller, route or whatever the key is made of, over all loops of the process, or over
/// all replicas.
struct RateLimit: Interceptor {
  private let set: RateLimitSet
  let keys: [LimitKeys]
  /// Nil: the buckets are those of this process.
  let shared: SharedLimits?
  private let dryRun: Bool
  private let fields: RateLimitConfiguration.Fields

  /// - Parameter limiters: one for each limit.
  init(_ configuration: RateLimitConfiguration, limiters: [RateLimiter], shared: SharedLimits? = nil) {
    set = RateLimitSet(limiters)
    self.shared = shared
    keys = configuration.limits.map { LimitKeys($0.key) }
    dryRun = configuration.dryRun
    fields = configuration.fields
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    if let shared, call.onRequest == nil { return ask(shared, call) }
    return decide(call)
  }

  func cost(of call: Call) -> Int { call.route?.plan.settings.rateLimitCost ?? 1 }

  /// By the buckets of this process.
  func decide(_ call: Call) -> InterceptorVerdict {
    let now = call.worker.loop.now.nanoseconds
    let decision = set.take(cost: cost(of: call), at: now) { keys[$0].hash(of: call) }
    if fields == .always { note(call, now) }
    return verdict(decision, call)
  }

  /// By the buckets that replicas share.
  ///
  /// - Parameter left: of each limit.
  func verdict(_ decision: RateLimitSet.Decision, left: [Int], _ call: Call) -> InterceptorVerdict {
    if fields == .always {
      for (limiter, left) in zip(set.limiters, left) {
        note(call, limiter.rate, left, fullIn: limiter.rate.time(toFill: left))
      }
    }
    return verdict(decision, call)
  }

  private func verdict(_ decision: RateLimitSet.Decision, _ call: Call) -> InterceptorVerdict {
    guard case .refused(let limit, let wait) = decision else { return .proceed }
    if dryRun {
      call.worker.countRateLimitDryRun(call)
      call.wouldBeRateLimited = true
      return .proceed
    }
    call.worker.countRateLimited(call)
    return .refuse(refusal(call, limit, wait: wait))
  }

  /// Keeps for the answer how the tightest limit stands.
  private func note(_ call: Call, _ now: UInt64) {
    for (limiter, key) in zip(set.limiters, keys) {
      let standing = limiter.standing(key.hash(of: call), at: now)
      note(call, limiter.rate, standing.remaining, fullIn: standing.fullIn)
    }
  }

  private func note(_ call: Call, _ rate: Rate, _ remaining: Int, fullIn: UInt64) {
    if let known = call.rateLimit, known.remaining <= remaining { return }
    call.rateLimit = RateLimitNote(limit: rate.requests, remaining: remaining, seconds: Self.seconds(fullIn))
  }

  func onReply(_ call: Call, _ fields: FieldBlock) {
    // Of several limits in a chain the innermost writes for all.
    guard self.fields == .always, let note = call.rateLimit else { return }
    call.rateLimit = nil
    fields.append("ratelimit-limit", "\(note.limit)")
    fields.append("ratelimit-remaining", "\(note.remaining)")
    fields.append("ratelimit-reset", "\(note.seconds)")
  }

  /// The exact wait goes into the detail, whole seconds into the headers.
  private func refusal(_ call: Call, _ limit: Int, wait: UInt64) -> RPCError {
    let seconds = Self.seconds(wait)
    var error = RPCError(
      .resourceExhausted, "too many requests; the next is taken in \(seconds) s",
      details: [.retryInfo(seconds: wait / 1_000_000_000, nanoseconds: wait % 1_000_000_000)],
      headers: [("retry-after", "\(seconds)")])
    if call.face.kind == .rest, fields == .refusals {
      error.headers += [
        ("ratelimit-limit", "\(set.limiters[limit].rate.requests)"), ("ratelimit-remaining", "0"),
        ("ratelimit-reset", "\(seconds)"),
      ]
    }
    return error
  }

  private static func seconds(_ nanoseconds: UInt64) -> UInt64 {
    nanoseconds / 1_000_000_000 + (nanoseconds % 1_000_000_000 == 0 ? 0 : 1)
  }
}

/// How a limit stands for a caller, as the answer tells.
struct RateLimitNote {
  /// Requests per period.
  var limit: Int
  var remaining: Int
  /// Until all are there again.
  var seconds: UInt64
}
