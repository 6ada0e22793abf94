import Bytes
import Configuration
import EventLoops
import HTTPModel
import RPC
import Tokens

/// `external_auth`: another service says whether a call may go on, and who makes it.
struct ExternalAuth: AuthenticatingInterceptor {
  private let plan: ExternalAuthPlan

  init(_ plan: ExternalAuthPlan) { self.plan = plan }

  /// Bytes of the longest answer; what counts is its head.
  private static let maximumBytes = 64 << 10

  /// What one loop remembers of verdicts.
  private final class Memory {
    static let limit = 8192
    let digester = TokenDigester()
    var cache = TokenCache<FieldBlock>(limit: Memory.limit)
  }

  /// A question that is under way.
  private final class Question {
    /// Set when the answer was there at once.
    var verdict: InterceptorVerdict?
    var isWaiting = false
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    if call.isExplained {
      call.omissions.append("external_auth: \(plan.origin.resource.origin) was not asked")
      return .proceed
    }
    let request = plan.request(for: call)
    let memory = plan.configuration.cache == nil ? nil : call.worker.local(of: plan) { Memory() }
    let digest = memory.flatMap { plan.digest(request, $0.digester) }
    if let memory, let digest, let known = memory.cache.value(for: digest, generation: 0, at: Self.now(call)) {
      plan.apply(known, to: call.head.fields)
      return .proceed
    }
    let question = Question()
    call.worker.internalClient.send(
      request, to: plan.origin, within: plan.configuration.timeout, limit: Self.maximumBytes
    ) { result in
      // Whoever left meanwhile may have another request under way with the same head.
      guard !question.isWaiting || call.state == .waiting else { return }
      let verdict = verdict(result, call, memory, digest)
      if question.isWaiting { call.resume(verdict) } else { question.verdict = verdict }
    }
    if let verdict = question.verdict { return verdict }
    question.isWaiting = true
    return .wait
  }

  /// Seconds of the loop's clock: the cache wants any that goes on.
  private static func now(_ call: Call) -> Double { Double(call.worker.loop.now.nanoseconds) / 1e9 }

  private func verdict(
    _ result: Result<InternalReply, InternalFailure>, _ call: Call, _ memory: Memory?, _ digest: TokenDigest?
  ) -> InterceptorVerdict {
    let reason: String
    switch result {
    case .success(let reply) where reply.isSuccess:
      let fields = plan.identity(reply)
      if let memory, let digest, let time = plan.configuration.cache {
        let end = Self.now(call) + Double(time.wholeNanoseconds) / 1e9
        memory.cache.insert(fields, for: digest, validUntil: end, generation: 0)
      }
      plan.apply(fields, to: call.head.fields)
      return .proceed
    case .success(let reply):
      if let error = plan.refusal(reply) {
        call.worker.countAuthRefused("external_auth", "\(error.code.name)")
        return .refuse(error)
      }
      reason = "\(plan.origin.resource.origin) answered with status \(reply.status)"
    case .failure(let failure): reason = failure.reason
    }
    if plan.configuration.failure == .allow { return .proceed }
    call.worker.countAuthRefused("external_auth", "away")
    return .refuse(
      RPCError(
        .unavailable, "it cannot be checked at this moment who calls", httpStatus: 503,
        headers: [("retry-after", "1")], logDetail: reason))
  }
}
