import Configuration
import Diagnostics
import EventLoops
import Migration
import Policies
import ProtoJSON
import ProtobufSchema
import REST
import TransportSecurity

/// Compiles a configuration and its schema into a snapshot, or says everything that is wrong with it.
struct SnapshotCompiler {
  private let configuration: GatewayConfiguration
  private let stages: StageRegistry
  private let generation: Int
  private let builder: InterceptorBuilder
  /// Come after those of the configuration.
  private let more: [any Interceptor]
  /// Those of all routes.
  private var interceptors: [any Interceptor] = []
  private let security: GatewaySecurity
  private let credentials: CredentialsCompiler
  private let files: CredentialFiles

  private var diagnostics: [Diagnostic] = []
  private var schemaWarnings: [Diagnostic] = []
  private var routes: [Route] = []
  private var groups: [[String]: GroupBuilder] = [:]
  /// The keys of `groups` as they came: of equally narrow ones the first is asked first.
  private var groupOrder: [[String]] = []
  private var sources = RuleSources()
  private var conflicts = RuleConflicts()
  private var codecs: [JSONProfile: JSONCodec] = [:]
  private let tolerantCodecs = TolerantCodecs()

  private init(
    _ configuration: GatewayConfiguration, _ stages: StageRegistry, _ builder: InterceptorBuilder,
    _ generation: Int, _ more: [any Interceptor], _ security: GatewaySecurity, _ credentials: CredentialsCompiler,
    _ files: CredentialFiles
  ) {
    self.files = files
    self.configuration = configuration
    self.stages = stages
    self.builder = builder
    self.generation = generation
    self.more = more
    self.security = security
    self.credentials = credentials
  }

  /// - Parameters:
  ///   - tickets: keys of TLS sessions, to go on with over a reload.
  ///   - builder: makes the interceptors of the configuration; unless told otherwise, without access logs and with rate
  ///     limits of their own.
  ///   - interceptors: come after those of the configuration.
  ///   - known: the schema of the same configuration, the hash of both and what the schema's files gave, where they need
  ///     not be read again.
  ///   - files: reads the files of keys and certificates; the builder's are the same.
  /// - Returns: the snapshot, nil with any error; and all faults and warnings.
  static func compile(
    _ configuration: GatewayConfiguration, stages: StageRegistry, tickets: TicketKeys = TicketKeys(),
    accessTokens: ResourceRegistry<TokenSourceIdentity, CredentialField> = ResourceRegistry(),
    builder: InterceptorBuilder = InterceptorBuilder(limits: RateLimiterRegistry(), accessLogs: nil), generation: Int,
    interceptors: [any Interceptor] = [], known: (schema: Schema, hash: String, warnings: [Diagnostic])? = nil,
    files: CredentialFiles = CredentialFiles()
  ) -> (snapshot: Snapshot?, diagnostics: [Diagnostic]) {
    var configuration = configuration
    var hash = ConfigurationHash()
    for document in configuration.documents { hash.add(document) }
    configuration.documents = []
    let (security, securityFaults) = SecurityCompiler.compile(configuration, tickets: tickets, files)
    let credentials = CredentialsCompiler(configuration.upstreams, tokens: accessTokens, files)
    var compiler = SnapshotCompiler(
      configuration, stages, builder, generation, interceptors, security, credentials, files)
    if let known {
      compiler.schemaWarnings = known.warnings
      compiler.diagnostics = securityFaults + credentials.diagnostics + known.warnings
      let snapshot = compiler.build(known.schema, hash: known.hash)
      return (snapshot, configuration.hidingSecrets(in: compiler.diagnostics))
    }
    let (sources, faults) = SchemaFiles.read(configuration.schema)
    compiler.diagnostics = securityFaults + credentials.diagnostics + faults
    let answered = configuration.services.compactMap(\.answerer)
    let (schema, schemaFaults) = SchemaLoader.load(
      sources, services: configuration.services.map(\.service.name),
      keepsFiles: answered.contains(where: \.isReflection)
    ) { hash.add($0) }
    compiler.diagnostics += schemaFaults
    compiler.schemaWarnings = schemaFaults.filter { $0.severity == .warning }
    var snapshot: Snapshot?
    if let schema, faults.isEmpty { snapshot = compiler.build(schema, hash: hash.text) }
    return (snapshot, configuration.hidingSecrets(in: compiler.diagnostics))
  }

  private mutating func build(_ schema: Schema, hash: String) -> Snapshot? {
    let top = SourcePosition(file: configuration.file, line: 1, column: 1)
    interceptors = build(configuration.interceptors, scope: "", top)
    let (sources, faults) = RuleSources.select(configuration.selectedRules, in: schema)
    self.sources = sources
    diagnostics += faults
    for service in configuration.services { add(service, schema) }
    let built = groupOrder.compactMap { groups[$0]?.build() }.enumerated()
      .sorted { ($0.element.specificity, $1.offset) > ($1.element.specificity, $0.offset) }.map(\.element)
    var fallback: UnroutedPlan?
    if let configured = configuration.fallback { fallback = fallbackPlan(configured, top) }
    guard !diagnostics.contains(where: { $0.severity == .error }) else { return nil }
    return Snapshot(
      generation: generation, hash: hash, configuration: configuration, routes: routes, groups: built,
      fallback: fallback, security: security, interceptors: interceptors + more, credentials: credentials.credentials,
      resources: builder.resources + credentials.resources, errorCodec: codec(.standard, schema),
      schema: schema, schemaWarnings: schemaWarnings, files: files.content)
  }

  private mutating func build(
    _ configured: [InterceptorConfiguration], scope: String, _ position: SourcePosition
  ) -> [any Interceptor] {
    do throws(SystemError) {
      let built = try builder.build(configured, scope: scope)
      diagnostics += builder.takeDiagnostics()
      return built
    } catch {
      report(position, "the access log cannot be opened: \(error)")
      return []
    }
  }

  private mutating func fallbackPlan(_ fallback: FallbackConfiguration, _ top: SourcePosition) -> UnroutedPlan? {
    guard let upstream = upstreamIndex(fallback.upstream) else { return nil }
    let chain = interceptors + build(fallback.interceptors, scope: UnroutedPlan.scope, top) + more
    return UnroutedPlan(
      upstream: upstream, limits: fallback.limits, interceptors: fallback.isPublic ? Self.onPublicRoute(chain) : chain)
  }

  /// What is left of a chain where anybody may call.
  private static func onPublicRoute(_ chain: [any Interceptor]) -> [any Interceptor] {
    chain.compactMap { ($0 as? any AuthenticatingInterceptor).map(\.onPublicRoutes) ?? $0 }
  }

  private func upstreamIndex(_ reference: Reference) -> Int? {
    configuration.upstreams.firstIndex { $0.name == reference.name }
  }

  /// How many times `limits.message` the JSON of a message may be: names, numbers and unset members in text.
  private static let maximumGrowth = 8

  private mutating func codec(_ profile: JSONProfile, _ schema: Schema) -> JSONCodec {
    if let known = codecs[profile] { return known }
    let codec = JSONCodec(
      schema: schema, profile: profile, maximumOutput: configuration.limits.message * Self.maximumGrowth)
    codecs[profile] = codec
    return codec
  }

  // MARK: Services and methods

  private mutating func add(_ service: ServiceConfiguration, _ schema: Schema) {
    guard let type = schema.services.first(where: { $0.fullName == service.service.name }) else {
      let known = schema.services.map(\.fullName)
      let near =
        known.first { $0.hasSuffix(".\(service.service.name)") } ?? Nearest.match(service.service.name, in: known)
      report(
        service.service.position, "the schema has no service \(service.service.name)",
        cure: near.map { "did you mean \($0)?" }
          ?? (known.isEmpty ? "add its descriptors under schema:" : "it has \(known.joined(separator: ", "))"))
      return
    }
    for method in service.methods where !type.methods.contains(where: { $0.name == method.method.name }) {
      let known = type.methods.map(\.name)
      report(
        method.method.position, "\(type.fullName) has no method \(method.method.name)",
        cure: Nearest.match(method.method.name, in: known).map { "did you mean \($0)?" }
          ?? "it has \(known.joined(separator: ", "))")
    }
    checkSides(service, type)
    diagnostics += ShadowChecks.faults(of: service, type, schema)
    diagnostics += EventChecks.faults(of: service, type, schema)
    let outer = interceptors + build(service.interceptors, scope: type.fullName, service.service.position)
    for method in type.methods {
      let own = service.methods.first { $0.method.name == method.name }
      add(method, of: type, service, own, outer, schema)
    }
  }

  /// The methods that the configuration does not list have the service's stage, and need what it needs. Those that it
  /// lists were checked when it was read.
  private mutating func checkSides(_ service: ServiceConfiguration, _ type: ServiceType) {
    let settings = service.settings
    let needsREST = settings.stage != .rpc && settings.rest == nil
    let needsRPC = settings.stage != .rest && settings.rpc == nil
    let needsShare = settings.stage == .canary && settings.canary?.percent == nil && settings.ramp == nil
    guard needsREST || needsRPC || needsShare else { return }
    let unlisted = type.methods.map(\.name).filter { name in !service.methods.contains { $0.method.name == name } }
    guard !unlisted.isEmpty else { return }
    if needsShare {
      report(
        settings.stagePosition,
        "\(type.fullName): stage `canary` of \(listed(unlisted)) has no share of the callers",
        cure: "write `canary: { percent: 1% }`, or `ramp:`")
    }
    guard needsREST || needsRPC else { return }
    let (side, kind) = needsREST ? ("rest", "rest") : ("rpc", "connect")
    report(
      settings.stagePosition,
      "\(type.fullName): stage `\(settings.stage.rawValue)` of \(listed(unlisted)) needs `\(side)`, which is not given",
      cure: "name an upstream with `protocol: \(kind)` as `\(side):`, or set another `stage:`")
  }

  private mutating func add(
    _ method: MethodType, of type: ServiceType, _ service: ServiceConfiguration, _ own: MethodConfiguration?,
    _ outer: [any Interceptor], _ schema: Schema
  ) {
    let settings = own?.settings ?? service.settings
    let position = own?.http?.position ?? own?.method.position ?? service.service.position
    let standard = codec(.standard, schema)
    let profile = codec(JSONProfile(settings.json), schema)
    let procedure = "\(type.fullName)/\(method.name)"
    let index = routes.count

    let rules = sources.rules(
      for: method, of: type, configured: own?.http, fallback: own?.method.position ?? service.service.position)
    diagnostics += ShadowChecks.faults(method, type, service.settings, settings, rules.first?.rule, schema)
    diagnostics += EventChecks.faults(method, service.settings, settings, schema)
    diagnostics += FallbackChecks.faults(method, type, service.settings, settings, rules.first?.rule)
    var bindings: [RESTBinding] = []
    var templates: [String] = []
    for rule in rules {
      guard let binding = compile(rule, method, procedure, settings, profile, schema) else { continue }
      let path = settings.prefix + rule.rule.path
      do throws(TemplateError) {
        let template = try PathTemplate.parse(path)
        insert(rule, template, route: index, number: bindings.count, settings.hosts, procedure)
        bindings.append(binding)
        templates.append(path)
      } catch {
        report(
          rule.position, "\(procedure): the template \(path) is wrong at column \(error.column): \(error.message)")
      }
    }
    if !insertProcedure(settings.prefix + "/" + procedure, route: index, settings.hosts) {
      report(service.service.position, "\(procedure) is configured twice", cure: "keep one")
    }
    // A stream without a rule is a new one: no old service is missed.
    let isNew = rules.isEmpty && (method.isClientStreaming || method.isServerStreaming)
    if settings.stage != .rpc, !isNew {
      diagnostics += ReverseChecks.warnings(bindings, rules.first?.position, settings, procedure)
    }
    let rpc = settings.rpc.flatMap { upstreamIndex($0) }
    diagnostics += StreamChecks.warnings(method, procedure, settings.rpc, rpc.map { configuration.upstreams[$0] })
    var chain = outer + build(own?.interceptors ?? [], scope: procedure, position) + more
    if settings.isPublic { chain = Self.onPublicRoute(chain) }
    let canary = canaryPlan(settings, of: type)
    routes.append(
      Route(
        index: index, service: type.fullName, type: method, settings: settings,
        stage: stages.cell(for: procedure, configured: StageSetting(settings)),
        canary: canary, restUpstream: settings.rest.flatMap { upstreamIndex($0) },
        rpcUpstream: rpc, bindings: bindings, templates: templates,
        codec: standard, profileCodec: profile,
        comparison: RouteComparison(
          schema, output: method.output, settings.shadow, profile: profile, codecs: tolerantCodecs),
        interceptors: chain))
  }

  /// Routes of a service choose the same callers unless their salts say otherwise: who writes on the new side reads there.
  private mutating func canaryPlan(_ settings: RouteSettings, of type: ServiceType) -> CanaryPlan {
    let canary = settings.canary ?? RouteSettings.Canary()
    var faults: [Diagnostic] = []
    let rules = CanaryRules(canary.rules, faults: &faults)
    for fault in faults where !diagnostics.contains(fault) { diagnostics.append(fault) }
    return CanaryPlan(rules: rules, keys: StickyKeys(canary, salt: type.fullName))
  }

  private mutating func compile(
    _ placed: PlacedRule, _ method: MethodType, _ procedure: String, _ settings: RouteSettings, _ codec: JSONCodec,
    _ schema: Schema
  ) -> RESTBinding? {
    do throws(BindingError) {
      var binding = BindingSettings()
      binding.ignoresUnknownQuery = settings.query.ignoresUnknown
      binding.ignoredQuery = settings.query.ignore
      binding.lists = QueryLists(settings.query.lists)
      binding.bodyTypes = settings.bodyTypes.map { BodyType($0) }
      return try RESTBinding.compile(
        rule: placed.rule, method: method, schema: schema, codec: codec, settings: binding)
    } catch {
      let texts = [placed.rule.path, placed.rule.body ?? "", placed.rule.responseBody ?? ""]
      let isSecret = texts.contains { configuration.holdsSecret($0) }
      diagnostics.append(placed.fault(error, of: procedure, isSecret: isSecret))
      return nil
    }
  }

  // MARK: Tables

  private mutating func insert(
    _ rule: PlacedRule, _ template: PathTemplate, route: Int, number: Int, _ hosts: [String], _ procedure: String
  ) {
    if let conflict = conflicts.insert(rule, template, hosts: hosts, procedure: procedure) {
      report(rule.position, conflict, cure: "give one of them another path")
      return
    }
    inGroup(of: hosts) { $0.insert(rule.rule.method, template, route: route, binding: number) }
  }

  private mutating func insertProcedure(_ path: String, route: Int, _ hosts: [String]) -> Bool {
    inGroup(of: hosts) { $0.insertProcedure(path, route: route) }
  }

  private mutating func inGroup<Result>(of hosts: [String], _ body: (inout GroupBuilder) -> Result) -> Result {
    let key = hosts.sorted()
    var group = groups[key] ?? GroupBuilder(hosts: key)
    if groups[key] == nil { groupOrder.append(key) }
    defer { groups[key] = group }
    return body(&group)
  }

  private mutating func report(
    _ position: SourcePosition, _ what: String, cure: String = "", severity: Diagnostic.Severity = .error
  ) {
    diagnostics.append(Diagnostic(severity: severity, at: position, what, cure: cure))
  }
}
