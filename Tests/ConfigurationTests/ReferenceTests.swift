import Diagnostics
import Testing

@testable import Configuration

/// The files under `config/`.
@Suite struct ReferenceTests {
  static let config = Folder.of(Folder.of(Folder.of(#filePath))) + "/config"
  static let reference = config + "/reference.yaml"

  @Test func everyKeyStandsInTheReference() {
    let used = ConfigurationLoader.keysUsed(in: Self.reference)
    let known = Set(
      ConfigurationLoader.knownSections.flatMap { section in section.keys.map { "\(section.name).\($0)" } })
    // A method's keys are its service's, shown there once.
    let inherited = Set(RouteKey.shared.map { "a method.\($0.rawValue)" })
    // The verbs are shown where they are used most.
    let bindings = Set(RuleKey.allCases.map { "an additional binding.\($0.rawValue)" })
    #expect(known.subtracting(used).subtracting(inherited).subtracting(bindings) == [])
    #expect(used.subtracting(known) == [])
    #expect(known.count > 80)
  }

  @Test func everyKeyHasAComment() throws {
    let text = try #require(Folder.text(of: Self.reference))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let roots = lines.enumerated().filter { $1.first?.isLetter == true }
    #expect(Set(roots.map { $1.prefix { $0 != ":" } }.map(String.init)) == Set(RootKey.allCases.map(\.rawValue)))
    for (index, line) in roots { #expect(index > 0 && lines[index - 1].hasPrefix("#"), "\(line)") }
  }

  @Test func theReferenceShowsTheDefaults() throws {
    let (configuration, diagnostics) = ConfigurationLoader.load(path: Self.reference)
    // It is there to be read.
    #expect(diagnostics.filter { !$0.description.contains("everybody on this machine can read the file") } == [])
    let got = try #require(configuration)
    let defaults = GatewayConfiguration()
    #expect(got.limits == defaults.limits)
    #expect(got.timeouts == defaults.timeouts)
    #expect(got.drain == defaults.drain)
    #expect(got.via == defaults.via)
    #expect(got.log == defaults.log)
    let service = try #require(got.services.first)
    let route = RouteSettings(stagePosition: service.service.position)
    #expect(service.settings.stage == route.stage)
    #expect(service.settings.json == route.json)
    #expect(service.settings.query.ignoresUnknown == route.query.ignoresUnknown)
    #expect(service.settings.errors == route.errors)
    #expect(service.settings.bodyTypes == route.bodyTypes)
    #expect(service.settings.stream == route.stream)
    #expect(service.settings.timeout == route.timeout)
    #expect(service.settings.successStatus == route.successStatus)
    #expect(service.settings.stripPrefix == route.stripPrefix)
    #expect(service.settings.compression == route.compression)
    #expect(service.settings.isPublic == route.isPublic)
    var shadow = service.settings.shadow
    #expect(shadow.timeout != nil && shadow.backPosition != nil)
    #expect(!shadow.ignore.isEmpty && !shadow.unordered.isEmpty)
    // A number, a share, a time.
    #expect(shadow.tolerance.map(\.amount) == [.absolute(0.01), .relative(0.01), .time(.seconds(2))])
    (shadow.timeout, shadow.backPosition) = (nil, nil)
    (shadow.ignore, shadow.unordered, shadow.tolerance) = ([], [], [])
    #expect(shadow == route.shadow)
    var fallback = service.settings.fallback
    #expect(fallback.isOn && fallback.position != nil)
    (fallback.isOn, fallback.position) = (false, nil)
    #expect(fallback == route.fallback)
    #expect(service.settings.dryRun == route.dryRun)
    #expect(service.settings.rateLimitCost == route.rateLimitCost)
    let upstream = try #require(got.upstreams.first)
    let plain = UpstreamConfiguration(name: "", position: upstream.position, protocol: .rest, endpoints: [])
    #expect(upstream.maxConnections == plain.maxConnections)
    #expect(upstream.maxIdleConnections == plain.maxIdleConnections)
    #expect(got.upstreams.filter { !$0.isGateway }.map(\.codec) == [.json, .proto, .proto, .json])
    guard case .oauth2(let token)? = got.upstreams[2].credentials else { throw Missing() }
    let plainToken = OAuth2Configuration(endpoint: token.endpoint, clientID: "", clientSecret: "")
    #expect((token.timeout, token.clientAuthentication) == (plainToken.timeout, plainToken.clientAuthentication))
    #expect(upstream.codec == plain.codec)
    guard case .accessLog(let log)? = got.interceptors.first else { throw Missing() }
    #expect(log.format == AccessLogConfiguration().format)
    for interceptor in got.interceptors {
      switch interceptor {
      case .accessLog, .headers, .apiKey: break
      case .externalAuth(let check):
        let defaults = ExternalAuthConfiguration(service: check.service)
        #expect((check.method, check.failure, check.timeout) == (defaults.method, defaults.failure, defaults.timeout))
        #expect((check.forwardedHeaders, check.clientHeaders) == (defaults.forwardedHeaders, defaults.clientHeaders))
      case .clientCertificate(let check): #expect(check.isRequired == ClientCertificateConfiguration().isRequired)
      case .jwt(let jwt):
        #expect((jwt.place, jwt.strips, jwt.isOptional) == (.bearer, false, false))
        let first = try #require(jwt.issuers.first)
        let defaults = JWTConfiguration.Issuer(keys: first.keys)
        #expect((first.leeway, first.allowsEndless) == (defaults.leeway, defaults.allowsEndless))
      case .requestID(let id): #expect(id == RequestIDConfiguration())
      case .rateLimit(let limit):
        let defaults = RateLimitConfiguration.Limit(requests: 1, per: .seconds(1))
        #expect(limit.limits.allSatisfy { $0.maximumKeys == defaults.maximumKeys })
        let whole = RateLimitConfiguration(limits: limit.limits)
        #expect((limit.dryRun, limit.fields) == (whole.dryRun, whole.fields))
      case .tracing(let tracing):
        let defaults = TracingConfiguration()
        #expect((tracing.sample, tracing.parentBased) == (defaults.sample, defaults.parentBased))
        #expect(tracing.serviceName == defaults.serviceName)
        let exporter = try #require(tracing.exporter)
        let plain = TracingConfiguration.Exporter(endpoint: exporter.endpoint)
        #expect((exporter.encoding, exporter.timeout) == (plain.encoding, plain.timeout))
        #expect((exporter.interval, exporter.queue) == (plain.interval, plain.queue))
      case .concurrency(let concurrency): #expect(concurrency.key == .client)
      case .cors(let cors):
        let defaults = CORSConfiguration()
        #expect((cors.methods, cors.headers) == (defaults.methods, defaults.headers))
        #expect((cors.credentials, cors.maxAge) == (defaults.credentials, defaults.maxAge))
        #expect((cors.preset, cors.privateNetwork) == (defaults.preset, defaults.privateNetwork))
      }
    }
    guard case .rateLimit(let own)? = service.interceptors.first else { throw Missing() }
    #expect(own.limits.map(\.burst) == own.limits.map(\.requests) && own.limits.map(\.key.text) == ["none"])
  }

  @Test func theSmallestOneIsAProxy() throws {
    let (configuration, diagnostics) = ConfigurationLoader.load(path: Self.config + "/turnout.yaml")
    #expect(diagnostics == [])
    #expect(configuration?.fallback?.name == "legacy")
    #expect(configuration?.listeners.map(\.address.text) == ["127.0.0.1:8080"])
  }

  struct Missing: Error {}
}
