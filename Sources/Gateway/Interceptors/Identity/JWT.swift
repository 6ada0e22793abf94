import Bytes
import Configuration
import EventLoops
import HTTPModel
import RPC
import Tokens

/// `jwt`: lets only callers through that have a signed token of a known issuer, and tells the backend who they are.
///
/// A token that was found to be good is remembered on the loop until it expires or the issuer's keys change, so that a
/// caller's next request costs a digest and a look-up.
struct JWT: AuthenticatingInterceptor {
  private let plan: JWTPlan

  init(_ plan: JWTPlan) { self.plan = plan }

  /// What one loop remembers of tokens.
  private final class Memory {
    static let limit = 8192
    let digester = TokenDigester()
    var cache = TokenCache<VerifiedToken>(limit: Memory.limit)
  }

  func onCall(_ call: Call) -> InterceptorVerdict {
    let memory = call.worker.local(of: plan) { Memory() }
    let now = Self.now
    let known = plan.place.withBearer(call.head) { token -> VerifiedToken? in
      guard let digest = memory.digester.digest(token) else { return nil }
      return memory.cache.value(for: digest, generation: plan.generation, at: now)
    }
    if let known = known ?? nil {
      accept(known, call)
      return .proceed
    }
    switch plan.place.find(in: call.head) {
    case .none:
      return plan.isOptional ? .proceed : .refuse(refusal(call, "none", "no token", "a bearer token is needed", ""))
    case .unusable(let reason): return .refuse(invalid(call, TokenFault(.malformed, reason)))
    case .found(let token): return check(token, call, memory, mayWait: true)
    }
  }

  var onPublicRoutes: (any Interceptor)? {
    plan.strips || plan.place.isQuery ? CredentialStripping { [plan] in plan.place.strip($0) } : nil
  }

  private static var now: Double { Double(WallClock.nowCoarse().seconds) }

  private func check(_ token: [UInt8], _ call: Call, _ memory: Memory, mayWait: Bool) -> InterceptorVerdict {
    let digest = memory.digester.digest(token.span)
    let generation = plan.generation
    if let digest, let known = memory.cache.value(for: digest, generation: generation, at: Self.now) {
      accept(known, call)
      return .proceed
    }
    do throws(TokenFault) {
      let parsed = try CompactToken(parsing: token.span)
      guard let issuer = try plan.issuer(of: parsed) else {
        throw TokenFault(.issuer, "the token is of an issuer that is not known")
      }
      guard let keys = issuer.keys.current(at: call.worker.loop.now) else {
        if call.isExplained {
          call.omissions.append("jwt: the token was not checked, because the keys would have to be fetched")
          return .proceed
        }
        return mayWait && wait(for: issuer, token, call, memory, pause: .zero) ? .wait : .refuse(unavailable(call))
      }
      do throws(TokenFault) {
        let (claims, end) = try issuer.check.verify(parsed, of: token.span, with: keys, at: Self.now)
        let verified = plan.verified(claims)
        if let digest { memory.cache.insert(verified, for: digest, validUntil: end, generation: generation) }
        accept(verified, call)
        return .proceed
      } catch {
        guard error.kind == .unknownKey, mayWait,
          wait(for: issuer, token, call, memory, pause: KeySource.unknownKeyPause)
        else { throw error }
        return .wait
      }
    } catch {
      return .refuse(invalid(call, error))
    }
  }

  /// Has the call wait for newer keys; false when none are to be had now.
  private func wait(
    for issuer: JWTPlan.Issuer, _ token: [UInt8], _ call: Call, _ memory: Memory, pause: Duration
  ) -> Bool {
    guard case .published(let resource) = issuer.keys, !call.isExplained else { return false }
    return resource.wait(on: call.worker, pause: pause) { [self] in
      // Whoever left meanwhile may have another request under way with the same head.
      guard call.state == .waiting else { return }
      call.resume(check(token, call, memory, mayWait: false))
    }
  }

  private func accept(_ verified: VerifiedToken, _ call: Call) {
    call.identity = verified
    if plan.strips { plan.place.strip(call.head) }
    for field in verified.fields { call.head.fields.append(field.name.span, field.value.span) }
  }

  // MARK: Refusals

  private func refusal(_ call: Call, _ kind: String, _ detail: String, _ message: String, _ challenge: String)
    -> RPCError
  {
    call.worker.countAuthRefused("jwt", kind)
    return RPCError(
      .unauthenticated, message, headers: [("www-authenticate", "Bearer\(challenge)")], logDetail: detail)
  }

  /// The caller learns nothing about why (RFC 6750 section 3.1); the log does.
  private func invalid(_ call: Call, _ fault: TokenFault) -> RPCError {
    refusal(call, fault.kind.rawValue, fault.reason, "the token is not valid", " error=\"invalid_token\"")
  }

  private func unavailable(_ call: Call) -> RPCError {
    call.worker.countAuthRefused("jwt", "no_keys")
    return RPCError(
      .unavailable, "tokens cannot be checked at this moment", httpStatus: 503, headers: [("retry-after", "1")],
      logDetail: "the issuer's keys have not been fetched yet")
  }
}
