import Configuration
import Migration
import ProtoJSON
import ProtobufSchema
import REST
import RPC

/// The plan of one RPC method: its faces, its backends, how it is translated. Immutable, shared by all loops.
final class Route: Sendable {
  let index: Int
  let service: String
  let method: String
  /// `pkg.Service/Method`: how operators write it, and the key of what is kept over reloads.
  let name: String
  /// `/pkg.Service/Method`: the path of the RPC face and of an RPC upstream, without the prefix.
  let procedure: String
  /// The same as bytes, for the requests that are written.
  let target: [UInt8]
  let type: MethodType
  let settings: RouteSettings
  /// Those of the settings, of which nobody takes a copy for each piece of a body.
  let limits: RouteSettings.Limits
  let stage: StageCell
  /// For stage canary, which may be set at any time.
  let canary: CanaryPlan
  /// Nil: nobody chooses the side for a call.
  let override: SideOverride?
  /// Indices into ``Snapshot/upstreams``.
  let restUpstream: Int?
  let rpcUpstream: Int?
  /// One for each REST binding.
  let bindings: [RESTBinding]
  /// Those that a REST backend is asked by, indices into ``bindings``: the first one that can carry the message. Each
  /// has in its path what the first has there, so that no value moves from a path to a query.
  let reverseBindings: [Int]
  /// For metrics and logs, one for each binding: the template as clients see it, with the prefix.
  let templates: [String]
  /// ProtoJSON as the specification has it: Connect clients and Connect backends.
  let codec: JSONCodec
  /// With the route's legacy profile: REST clients and REST backends.
  let profileCodec: JSONCodec
  let comparison: RouteComparison
  /// Whether calls may be copied in other stages than shadow.
  let mayCopy: Bool
  let errorFormat: ErrorFormat
  /// HTTP statuses in place of those of the codes, by code; nil: none.
  let errorStatuses: [Code: Int]?
  /// Errors of a REST backend with a status of success; nil: there are none.
  let successErrors: SuccessErrors?
  /// For callers whose Accept says nothing else.
  let streamForm: StreamForm
  /// What server-sent events have besides their data.
  let events: EventFields
  /// Of answers to REST callers; nil: none is compressed.
  let compression: CompressionPlan?
  let interceptors: [any Interceptor]
  /// In place of the upstream's; nil: that is right.
  let retries: RetryPlan?
  /// Whether a call that fails on one side is asked once more on the other; nil: it is not.
  let fallback: FallbackPlan?
  /// Whether one of them answers preflights.
  let answersPreflights: Bool

  init(
    index: Int, service: String, type: MethodType, settings: RouteSettings, stage: StageCell, canary: CanaryPlan,
    restUpstream: Int?, rpcUpstream: Int?, bindings: [RESTBinding], templates: [String], codec: JSONCodec,
    profileCodec: JSONCodec, comparison: RouteComparison, interceptors: [any Interceptor]
  ) {
    self.index = index
    self.service = service
    self.type = type
    self.settings = settings
    limits = settings.limits
    self.stage = stage
    self.canary = canary
    override = settings.override.map { SideOverride($0) }
    self.restUpstream = restUpstream
    self.rpcUpstream = rpcUpstream
    self.bindings = bindings
    let able = bindings.indices.filter { bindings[$0].reverseFault == nil }
    let needed = Set(able.first.map { bindings[$0].pathFields } ?? [])
    reverseBindings = able.filter { needed.isSubset(of: bindings[$0].pathFields) }
    self.templates = templates
    self.codec = codec
    self.profileCodec = profileCodec
    self.comparison = comparison
    mayCopy = settings.shadow.back || settings.dryRun > 0
    self.interceptors = interceptors
    retries = settings.retries.map { RetryPlan($0) }
    fallback = FallbackPlan(
      settings, isStreaming: type.isClientStreaming || type.isServerStreaming,
      isSafe: Self.isSafe(type, boundTo: bindings.first?.httpMethod),
      hasBothSides: restUpstream != nil && rpcUpstream != nil)
    answersPreflights = interceptors.contains { $0 is CORS }
    method = type.name
    name = "\(service)/\(type.name)"
    procedure = "/\(name)"
    target = Array(procedure.utf8)
    errorFormat = ErrorFormat(settings.errors)
    let statuses = settings.errors.statuses.compactMap { name, status in
      Code(name: name.rawValue).map { ($0, status) }
    }
    errorStatuses = statuses.isEmpty ? nil : Dictionary(statuses) { first, _ in first }
    successErrors = SuccessErrors(settings.errors.inSuccess)
    streamForm = StreamForm(settings.stream)
    events = EventFields(settings.events, in: profileCodec.schema, message: type.output)
    compression = CompressionPlan(settings.compression)
  }

  /// For the whole of a unary call; nil: only a standstill ends it.
  var timeout: Duration? { settings.timeout > .zero ? settings.timeout : nil }

  /// Whether a copy of a call does no harm.
  var isSafe: Bool { Self.isSafe(type, boundTo: bindings.first?.httpMethod) }

  /// A method is safe if the schema says so, or if it is bound to GET.
  static func isSafe(_ type: MethodType, boundTo httpMethod: String?) -> Bool {
    type.idempotency == .noSideEffects || httpMethod == "GET"
  }

  /// Whether its guard bounds what one caller weighs.
  var weighsKeys: Bool { (settings.guard?.maximumKeyShare ?? 10_000) < 10_000 }

  var isStreaming: Bool { type.isClientStreaming || type.isServerStreaming }
  /// Whether Connect GET may be used (Connect protocol, Unary-Get-Request).
  var allowsGet: Bool { type.idempotency == .noSideEffects && !isStreaming }

  /// The stage as it stands now, if this plan has the upstreams for it; else the one that its own file says.
  ///
  /// The stage is the whole process's and the plan is the snapshot's: while a reload goes from loop to loop, a plan may
  /// be older than the stage.
  var presentContent: StageCell.Content {
    let now = stage.content
    return canServe(now.setting.stage) ? now : StageCell.Content(setting: StageSetting(settings))
  }

  /// Whether the upstreams of a stage are there.
  func canServe(_ stage: RouteSettings.Stage) -> Bool {
    switch stage {
    case .rest: restUpstream != nil
    case .shadow, .canary: restUpstream != nil && rpcUpstream != nil
    case .rpc: rpcUpstream != nil
    }
  }

  func upstream(of side: StageDecision.Side) -> Int? {
    switch side {
    case .rest: restUpstream
    case .rpc: rpcUpstream
    case .none: nil
    }
  }
}
