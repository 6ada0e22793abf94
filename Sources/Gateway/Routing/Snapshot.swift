import Configuration
import HTTP1
import ProtoJSON

/// Everything that a request needs to know of the configuration, compiled: immutable, published whole.
///
/// A request keeps the snapshot that it began with. Only plans live here; what changes while running (pools, stages,
/// counters) lives in registries under stable names and is adopted by the next snapshot.
final class Snapshot: Sendable {
  let generation: Int
  let configuration: GatewayConfiguration
  let routes: [Route]
  let groups: [RouteGroup]
  /// By index; routes and the fallback refer to these.
  let upstreams: [UpstreamConfiguration]
  /// What each upstream's requests get or lose, by the same index.
  let upstreamHeaders: [HeaderChanges?]
  /// Whether a route answers preflights, so that they are looked for.
  let answersPreflights: Bool
  /// Index of the upstream for what no route matches.
  let fallback: Int?
  let security: GatewaySecurity
  /// Run on calls that no route has.
  let interceptors: [any Interceptor]
  /// Taken from clients' requests, whatever their route; nil: none.
  let identityFields: IdentityFields?
  /// Fetched ahead, for all loops.
  let resources: [any RefreshedResource]
  /// Renders error details where there is no route.
  let errorCodec: JSONCodec
  let headLimits: HeadLimits

  init(
    generation: Int, configuration: GatewayConfiguration, routes: [Route], groups: [RouteGroup], fallback: Int?,
    security: GatewaySecurity, interceptors: [any Interceptor], resources: [any RefreshedResource],
    errorCodec: JSONCodec
  ) {
    self.generation = generation
    self.configuration = configuration
    self.routes = routes
    self.groups = groups
    upstreams = configuration.upstreams
    upstreamHeaders = configuration.upstreams.map { HeaderChanges($0.headers) }
    answersPreflights = routes.contains(where: \.answersPreflights)
    self.fallback = fallback
    self.security = security
    self.interceptors = interceptors
    self.resources = resources
    identityFields = IdentityFields(configuration)
    self.errorCodec = errorCodec
    var limits = HeadLimits()
    limits.maximumBytes = configuration.limits.header
    limits.maximumFields = configuration.limits.fields
    limits.maximumTarget = configuration.limits.target
    headLimits = limits
  }
}
