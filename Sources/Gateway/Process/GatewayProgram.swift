package import Diagnostics
package import EventLoops

/// What the command line asks of the gateway: the seam between arguments and the data path.
package protocol GatewayProgram: Sendable {
  /// From here on SIGTERM, SIGINT, SIGHUP and SIGUSR1 end nothing by themselves: ``serve(configPath:started:)`` obeys
  /// those that come before it too, if it starts. First of all in a command that serves.
  func catchSignals() -> Result<Void, ProgramFailure>

  /// Runs the gateway until it has drained after SIGTERM or SIGINT.
  ///
  /// It handles the signals, logs what it bound, and serves the admin endpoint by itself. If it is to end before it has
  /// started, it ends as soon as it has.
  ///
  /// - Parameter started: called once, when all listeners accept; not if it is to end already.
  func serve(
    configPath: String, started: @escaping @Sendable (ServedAddresses) -> Void
  ) -> Result<Void, ProgramFailure>

  /// All faults and warnings of a configuration, its schema and its routes; empty when all is well.
  func check(configPath: String) -> [Diagnostic]

  /// The route table in the order of the configuration.
  func routes(configPath: String) -> Result<[RouteSummary], ProgramFailure>

  /// What a request would become and why, as text for a person. Calls nobody.
  func explain(configPath: String, request: ExplainedRequest) -> Result<String, ProgramFailure>
}

/// Why a command failed.
package enum ProgramFailure: Error, Sendable, Equatable {
  /// Each is printed as its own line.
  case configuration([Diagnostic])
  /// One line without the program's name: a taken port, a file that cannot be read.
  case other(String)
}

/// Where a started gateway listens, with the ports that were bound in place of 0.
package struct ServedAddresses: Sendable, Equatable {
  package var listeners: [SocketAddress]
  package var admin: SocketAddress?
  package var probes: SocketAddress?

  package init(listeners: [SocketAddress], admin: SocketAddress? = nil, probes: SocketAddress? = nil) {
    self.listeners = listeners
    self.admin = admin
    self.probes = probes
  }
}

/// One route as `turnout routes` shows it.
package struct RouteSummary: Sendable, Equatable {
  /// One REST face.
  package struct Binding: Sendable, Equatable {
    /// A method token, or `*` for any.
    package var method: String
    /// The template with the service's prefix.
    package var path: String

    package init(method: String, path: String) {
      self.method = method
      self.path = path
    }
  }

  /// `pkg.Service/Method`.
  package var procedure: String
  package var stage: String
  /// The share of stage canary, in percent; nil in any other.
  package var percent: Double?
  package var bindings: [Binding]
  /// Names of upstreams; nil when that side is not configured.
  package var rest: String?
  package var rpc: String?
  /// Empty: every authority.
  package var hosts: [String]

  package init(
    procedure: String, stage: String, percent: Double? = nil, bindings: [Binding], rest: String?, rpc: String?,
    hosts: [String] = []
  ) {
    self.procedure = procedure
    self.stage = stage
    self.percent = percent
    self.bindings = bindings
    self.rest = rest
    self.rpc = rpc
    self.hosts = hosts
  }
}

/// The request that `turnout explain` is asked about.
package struct ExplainedRequest: Sendable {
  /// A method token.
  package var method: String
  /// Begins with `/`, may have a query.
  package var target: String
  /// Names and values as they were typed, both legal.
  package var fields: [(name: String, value: String)]
  /// Nil when no `--data` was given.
  package var body: [UInt8]?
  /// What counts in place of the file's stages: those of a running gateway. Of routes that the file lacks nothing is said.
  package var stages: [ExplainedStage] = []
  /// Rest, shadow, canary or rpc: counts in place of all others, for every route; a canary has the share of the file.
  package var stage: String?

  package init(method: String, target: String, fields: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
  }
}

/// The stage of a route in a running gateway.
package struct ExplainedStage: Sendable, Equatable {
  /// `pkg.Service/Method`.
  package var procedure: String
  package var stage: String
  /// The share of stage canary, 0 to 100.
  package var percent: Double?
  /// Whether a guard has taken the route back: then a canary's rules lead nobody to the rpc side.
  package var isTripped: Bool

  package init(procedure: String, stage: String, percent: Double? = nil, isTripped: Bool = false) {
    self.procedure = procedure
    self.stage = stage
    self.percent = percent
    self.isTripped = isTripped
  }
}
