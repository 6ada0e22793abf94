import Configuration
import Diagnostics
import HTTP1
import ProtoJSON
import ProtobufSchema

/// Everything that a request needs to know of the configuration, compiled: immutable, published whole.
///
/// A request keeps the snapshot that it began with. Only plans live here; what changes while running (pools, stages,
/// counters) lives in registries under stable names and is adopted by the next snapshot.
final class Snapshot: Sendable {
  let generation: Int
  /// Of the configuration, as ``ConfigurationHash`` has it.
  let hash: String
  let configuration: GatewayConfiguration
  let routes: [Route]
  let groups: [RouteGroup]
  /// By index; routes and the fallback refer to these.
  let upstreams: [UpstreamConfiguration]
  /// What each upstream's requests get or lose, by the same index.
  let upstreamHeaders: [HeaderChanges?]
  /// How the gateway proves who it is, by the same index; nil: it does not.
  let credentials: [OutgoingCredentials?]
  /// Whether a route answers preflights, so that they are looked for.
  let answersPreflights: Bool
  /// Whether a route takes a path with a slash more for its own, so that such are looked for.
  let acceptsTrailingSlashes: Bool
  /// Who answers what no route matches; nil: nobody.
  let fallback: UnroutedPlan?
  let security: GatewaySecurity
  private let listeners: [SocketAddressConfiguration: ListenerPlan]
  /// Run on calls that no route has, and no fallback.
  let interceptors: [any Interceptor]
  /// Taken from clients' requests, whatever their route; nil: none.
  let identityFields: IdentityFields?
  /// Taken from them in other spellings than the usual one.
  let guardedNames: GuardedNames
  /// What callers are told apart by; nil: nobody could read who they are.
  let callers: CallerFields?
  /// The header with the version of a caller's app, for the access log; nil: none is named.
  let versionHeader: [UInt8]?
  /// Taken out of requests once the side is chosen; nil: none.
  let sideHeaders: SideHeaders?
  /// Fetched ahead, for all loops.
  let resources: [any RefreshedResource]
  /// Renders error details where there is no route.
  let errorCodec: JSONCodec
  let headLimits: HeadLimits
  /// All of `redis:`, by name.
  let redis: [String: RedisEndpoint]
  /// Those of them that limits are kept on.
  let limitServers: [String: RedisEndpoint]
  let schema: Schema
  /// What the schema's files gave.
  let schemaWarnings: [Diagnostic]
  /// What reflection hands out; nil where the gateway does not answer it.
  var descriptors: DescriptorFiles? { schema.files }
  /// What the files of keys and certificates held.
  let files: CredentialFiles.Content
  /// The services that have routes, sorted.
  let serviceNames: [String]

  init(
    generation: Int, hash: String, configuration: GatewayConfiguration, routes: [Route], groups: [RouteGroup],
    fallback: UnroutedPlan?, security: GatewaySecurity, interceptors: [any Interceptor],
    credentials: [OutgoingCredentials?], resources: [any RefreshedResource], errorCodec: JSONCodec,
    schema: Schema, schemaWarnings: [Diagnostic], files: CredentialFiles.Content
  ) {
    self.schemaWarnings = schemaWarnings
    self.generation = generation
    self.hash = hash
    self.configuration = configuration
    self.routes = routes
    self.groups = groups
    upstreams = configuration.upstreams
    upstreamHeaders = configuration.upstreams.map { HeaderChanges($0.headers) }
    answersPreflights = routes.contains(where: \.answersPreflights)
    acceptsTrailingSlashes = routes.contains(where: \.settings.acceptsTrailingSlash)
    self.fallback = fallback
    self.security = security
    listeners = Dictionary(
      configuration.listeners.map { ($0.address, ListenerPlan($0)) }, uniquingKeysWith: { first, _ in first })
    self.interceptors = interceptors
    self.credentials = credentials
    self.resources = resources
    identityFields = IdentityFields(configuration)
    guardedNames = GuardedNames(configuration)
    callers = configuration.admin == nil ? nil : CallerFields(configuration.callers)
    versionHeader = configuration.callers.versionHeader
    sideHeaders = SideHeaders(routes)
    self.errorCodec = errorCodec
    var limits = HeadLimits()
    limits.maximumBytes = configuration.limits.header
    limits.maximumFields = configuration.limits.fields
    limits.maximumTarget = configuration.limits.target
    headLimits = limits
    let endpoints = configuration.redis.map { redis in
      RedisEndpoint(redis, connectTimeout: configuration.timeouts.connect, security: security.redis[redis.name])
    }
    redis = Dictionary(endpoints.map { ($0.name, $0) }) { first, _ in first }
    let all = interceptors + (fallback?.interceptors ?? []) + routes.flatMap(\.interceptors)
    let names = Set(all.compactMap { ($0 as? RateLimit)?.shared?.server })
    limitServers = redis.filter { names.contains($0.key) }
    self.schema = schema
    self.files = files
    serviceNames = Set(routes.map(\.service)).sorted()
  }

  /// How the connections of a listener are taken; one that is not in the configuration any more trusts nobody.
  func listener(_ address: SocketAddressConfiguration) -> ListenerPlan {
    listeners[address] ?? ListenerPlan(ListenerConfiguration(address: address))
  }

  func hasService(_ name: String) -> Bool { serviceNames.contains(name) }
}
