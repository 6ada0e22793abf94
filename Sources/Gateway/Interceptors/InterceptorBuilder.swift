import Configuration
import Diagnostics
import EventLoops
import Policies
import Tokens

/// Makes the interceptors of one snapshot; what they keep between snapshots is in registries.
final class InterceptorBuilder {
  private let limits: RateLimiterRegistry
  private let concurrency: ConcurrencyRegistry
  private let keySets: ResourceRegistry<KeySourceIdentity, KeySet>
  /// Nil: access logs are left out, for whoever only looks at a configuration.
  private let accessLogs: AccessLogSinks?
  private let files: CredentialFiles
  /// How many equal limits were made in the same place.
  private var seen: [RateLimiterRegistry.Identity: Int] = [:]
  private var seenConcurrency: [ConcurrencyRegistry.Identity: Int] = [:]

  /// What the interceptors need fetched.
  private(set) var resources: [any RefreshedResource] = []
  private var diagnostics: [Diagnostic] = []

  init(
    limits: RateLimiterRegistry, concurrency: ConcurrencyRegistry = ConcurrencyRegistry(), accessLogs: AccessLogSinks?,
    keySets: ResourceRegistry<KeySourceIdentity, KeySet> = ResourceRegistry(),
    files: CredentialFiles = CredentialFiles()
  ) {
    self.files = files
    self.limits = limits
    self.concurrency = concurrency
    self.keySets = keySets
    self.accessLogs = accessLogs
  }

  /// - Parameter scope: where they stand: empty for all routes, else a service or a procedure.
  /// - Throws: why an access log cannot be opened.
  func build(
    _ configurations: [InterceptorConfiguration], scope: String
  ) throws(SystemError) -> [any Interceptor] {
    var result: [any Interceptor] = []
    for configuration in configurations {
      switch configuration {
      case .accessLog(let settings):
        guard let accessLogs else { continue }
        result.append(AccessLog(sink: try accessLogs.sink(for: settings), format: settings.format))
      case .requestID(let settings): result.append(RequestIdentity(settings))
      case .headers(let settings): result.append(Headers(settings))
      case .apiKey(let settings): if let keys = apiKeys(settings) { result.append(keys) }
      case .rateLimit(let settings):
        let limits = settings.limits.map { limit($0, scope) }
        let shared = settings.shared.map { SharedLimits($0, limits: limits) }
        result.append(RateLimit(settings, limiters: limits.map(\.limiter), shared: shared))
      case .concurrency(let settings): result.append(Concurrency(settings, limiter: limiter(settings, scope)))
      case .tracing(let settings): if let plan = plan(settings) { result.append(TraceInterceptor(plan)) }
      case .cors(let settings): result.append(CORS(settings))
      case .clientCertificate(let settings): result.append(ClientCertificates(settings))
      case .externalAuth(let settings):
        let (origin, more) = InternalOrigin.make(settings.service, for: .externalAuth, files)
        diagnostics += more
        if let origin { result.append(ExternalAuth(ExternalAuthPlan(settings, origin))) }
      case .jwt(let settings): if let plan = plan(settings) { result.append(JWT(plan)) }
      }
    }
    return result
  }

  /// The faults and warnings of what was built since the last time.
  func takeDiagnostics() -> [Diagnostic] {
    defer { diagnostics = [] }
    return diagnostics
  }

  /// Nil, and a fault, when something of it cannot be used.
  private func plan(_ settings: JWTConfiguration) -> JWTPlan? {
    let issuers = settings.issuers.compactMap { issuer -> JWTPlan.Issuer? in
      let check = TokenCheck(issuer)
      guard let source = keySource(issuer.keys, for: check.algorithms) else { return nil }
      return JWTPlan.Issuer(name: issuer.issuer, check: check, keys: source)
    }
    return issuers.count == settings.issuers.count ? JWTPlan(settings, issuers) : nil
  }

  /// Nil, and a fault, when the collector cannot be asked.
  private func plan(_ settings: TracingConfiguration) -> TracingPlan? {
    guard let exporter = settings.exporter else { return TracingPlan(settings, nil) }
    let (origin, more) = InternalOrigin.make(exporter.endpoint, for: .traces, files)
    diagnostics += more
    return origin.map { TracingPlan(settings, $0) }
  }

  private func apiKeys(_ settings: APIKeyConfiguration) -> APIKeys? {
    guard let file = settings.file else { return APIKeys(settings, file: nil) }
    let (keys, more) = files.take("hashed keys \(file.path)") { HashedKeyFile.read(file) }
    diagnostics += more
    return keys.map { APIKeys(settings, file: HashedKeyPlan($0, forward: settings.forward)) }
  }

  private func keySource(_ keys: JWTConfiguration.Keys, for algorithms: [SignatureAlgorithm]) -> KeySource? {
    switch keys {
    case .file(let file):
      let (keys, more) = files.take("key set \(file.path)") { KeySetFile.read(file, for: algorithms) }
      diagnostics += more
      return keys.map { .fixed($0) }
    case .published(let resource, let refresh):
      let (origin, more) = InternalOrigin.make(resource, for: .keySet, files)
      diagnostics += more
      guard let origin else { return nil }
      let source = KeySource.published(origin, refresh: refresh, keySets)
      if case .published(let shared) = source { resources.append(shared) }
      return source
    }
  }

  /// A limiter, and what it is called on a server: in all replicas, which have the same configuration, the same.
  private func limit(
    _ settings: RateLimitConfiguration.Limit, _ scope: String
  ) -> (limiter: RateLimiter, name: String) {
    var identity = RateLimiterRegistry.Identity(
      scope: scope,
      rate: Rate(requests: settings.requests, period: settings.per.wholeNanoseconds, burst: settings.burst),
      key: settings.key.text, maximumKeys: settings.maximumKeys, number: 0)
    let number = seen[identity, default: 0]
    seen[identity] = number + 1
    identity.number = number
    let place = scope.isEmpty ? "*" : scope
    let name = "\(place):\(settings.requests)/\(settings.per.wholeNanoseconds / 1_000_000)ms:\(number)"
    return (limits.limiter(for: identity), name)
  }

  private func limiter(_ settings: ConcurrencyConfiguration, _ scope: String) -> ConcurrencyLimiter {
    var identity = ConcurrencyRegistry.Identity(
      scope: scope, limit: settings.requests, key: settings.key.text, number: 0)
    let number = seenConcurrency[identity, default: 0]
    seenConcurrency[identity] = number + 1
    identity.number = number
    return concurrency.limiter(for: identity)
  }
}
