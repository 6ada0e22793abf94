package import Diagnostics

/// One service of the schema, and what is particular to its methods.
package struct ServiceConfiguration: Sendable {
  /// The full name; the key's place.
  package var service: Reference
  /// The keys of the service itself.
  package var settings: RouteSettings
  package var methods: [MethodConfiguration]
  /// Of the service's own; they come after those of all routes.
  package var interceptors: [InterceptorConfiguration] = []
  /// Set where the gateway answers itself (`answer: gateway`).
  package var answerer: GatewayService?

  package init(service: Reference, settings: RouteSettings, methods: [MethodConfiguration]) {
    self.service = service
    self.settings = settings
    self.methods = methods
  }
}

/// What the configuration says of one method.
package struct MethodConfiguration: Sendable {
  /// The method's name without its service.
  package var method: Reference
  /// What the method says itself, laid over the service's settings: complete.
  package var settings: RouteSettings
  /// A rule for a method without annotation, or instead of it.
  package var http: HTTPRuleConfiguration?
  /// Of the method's own; they come after those of its service.
  package var interceptors: [InterceptorConfiguration] = []

  package init(method: Reference, settings: RouteSettings, http: HTTPRuleConfiguration?) {
    self.method = method
    self.settings = settings
    self.http = http
  }
}

/// `http: { get: "/v1/x/{id}", body: "*", response_body: f, additional_bindings: [ … ] }`, keys as google.api.http.
package struct HTTPRuleConfiguration: Sendable {
  package var method: String
  package var path: String
  package var body: String?
  package var responseBody: String?
  package var additionalBindings: [HTTPRuleConfiguration]
  /// Of the path.
  package var position: SourcePosition
  /// Of the first character of the path; nil where the file spells it with escapes or from outside.
  package var templatePosition: SourcePosition?
  /// Of the value of `body:`, when it is given.
  package var bodyPosition: SourcePosition?
  /// Of the value of `response_body:`, when it is given.
  package var responseBodyPosition: SourcePosition?

  package init(
    method: String, path: String, body: String?, responseBody: String?,
    additionalBindings: [HTTPRuleConfiguration], position: SourcePosition
  ) {
    self.method = method
    self.path = path
    self.body = body
    self.responseBody = responseBody
    self.additionalBindings = additionalBindings
    self.position = position
  }
}

/// One rule of a google.api.Service file: which methods it is for, and what it says.
package struct SelectedRuleConfiguration: Sendable {
  /// Full method names with dots, or everything below a name (`pkg.Service.*`), or all (`*`).
  package var patterns: [Reference]
  package var rule: HTTPRuleConfiguration

  package init(patterns: [Reference], rule: HTTPRuleConfiguration) {
    self.patterns = patterns
    self.rule = rule
  }
}

/// The keys that a service and a method share; a method's win, key by key.
package struct RouteSettings: Sendable {
  /// Who answers: see the README, and `turnout help stage`. In stage `shadow` REST answers and RPC gets a copy; in stage
  /// `canary` RPC answers a share of the callers, and REST the others.
  package enum Stage: String, Sendable, CaseIterable {
    case rest
    case shadow
    case canary
    case rpc
  }

  /// `body_types:`, the forms of REST bodies.
  package enum BodyType: String, Sendable, CaseIterable {
    case json
    case protobuf
    /// `application/x-www-form-urlencoded`
    case form
  }

  /// How a stream of messages is written for REST callers whose Accept says nothing else.
  package enum StreamForm: String, Sendable, CaseIterable {
    /// A JSON value a line.
    case ndjson
    /// One JSON array.
    case array
    /// Server-sent events.
    case sse
  }

  /// `query:`, what becomes of parameters that the schema does not know.
  package struct Query: Sendable, Equatable {
    /// Whether unknown parameters are dropped (Default: reject).
    package var ignoresUnknown = false
    /// Names that are dropped, with `*` for any run of characters.
    package var ignore: [String] = []
    package var lists = Lists.repeated

    /// `lists:`, how the REST API spells lists.
    package enum Lists: String, Sendable, CaseIterable {
      case repeated, brackets, commas
    }
    package init() {}
  }

  /// `limits:`, the greatest bodies; nil: those of ``LimitsConfiguration``.
  package struct Limits: Sendable, Equatable {
    /// Bytes of a request, of a stream of each message.
    package var request: Int?
    /// Bytes of an answer, of a stream of each message.
    package var response: Int?
    package init() {}
  }

  /// Who answers in stage rest; nil when not configured.
  package var rest: Reference?
  /// Who answers in stage rpc, and gets the copies in stage shadow; nil when not configured.
  package var rpc: Reference?
  package var stage: Stage = .rest
  /// Of the `stage:` key, else of the service.
  package var stagePosition: SourcePosition
  /// Authorities this answers for, lower case, `*.example.com` for any subdomain; empty: all.
  package var hosts: [String] = []
  /// Before every REST binding and procedure path: begins with `/`, does not end with it; empty: none.
  package var prefix = ""
  /// Whether the prefix is taken off towards a REST backend too.
  package var stripPrefix = false
  /// The member that wraps every answer of the legacy API.
  package var envelope: String?
  /// For the whole of a unary call, unless the caller allows less; zero: as long as something moves (Default: 15s).
  package var timeout: Duration = .seconds(15)
  package var json = JSONSettings()
  package var query = Query()
  /// What REST bodies may be; answers are protobuf too where it is listed (Default: json and protobuf).
  package var bodyTypes: [BodyType] = [.json, .protobuf]
  package var errors = ErrorSettings()
  /// (Default: ndjson).
  package var stream = StreamForm.ndjson
  /// What server-sent events are named by.
  package var events = Events()
  /// The status of a success to REST callers (Default: 200).
  package var successStatus = 200
  /// `etag:`, whether translated answers to a GET have a tag, and are left out for a caller who has them.
  package var makesEntityTags = false
  /// `trailing_slash:`, whether a path with a slash more at its end is the same path.
  package var acceptsTrailingSlash = false
  package var shadow = Shadow()
  /// Parts per 10,000 of the calls in stage rest that are translated to see what a flip would refuse; nobody is asked
  /// (Default: 0).
  package var dryRun = 0
  package var limits = Limits()
  /// What a call counts for in rate limits (Default: 1).
  package var rateLimitCost = 1
  /// Nil when not configured.
  package var canary: Canary?
  /// Nil: nobody chooses the side for a call.
  package var override: Override?
  /// Nil: nothing takes the route back.
  package var `guard`: Guard?
  /// Whether a call that fails on its side is asked once more on the other.
  package var fallback = Fallback()
  /// Nil: a share changes only when somebody sets it.
  package var ramp: Ramp?
  /// Of the `ramp:` key; the service's place without one.
  var rampPosition: SourcePosition
  /// Whether anybody may call: interceptors that ask who it is are left out (Default: false).
  package var isPublic = false
  package var compression = CompressionConfiguration()
  /// In place of the upstream's; nil: that is right.
  package var retries: RetryConfiguration?

  package init(stagePosition: SourcePosition) {
    self.stagePosition = stagePosition
    rampPosition = stagePosition
  }
}
