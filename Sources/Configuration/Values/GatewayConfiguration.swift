package import Diagnostics

/// Everything that one configuration file (with its includes) says, validated in itself, defaults filled in.
///
/// References into the schema (service and method names, field paths) are checked later, when the snapshot is
/// compiled; hence the positions.
package struct GatewayConfiguration: Sendable {
  /// The main file's path as it was given; relative paths inside were resolved against its folder.
  package var file = ""
  /// At least one.
  package var listeners: [ListenerConfiguration] = []
  /// Nil: no admin endpoint.
  package var admin: AdminConfiguration?
  /// A second, read-only listener for health and metrics.
  package var probes: SocketAddressConfiguration?
  /// Servers that replicas share, each under its own name.
  package var redis: [RedisConfiguration] = []
  /// Nil: what changed at run time is neither kept nor shared.
  package var state: StateConfiguration?
  /// Nil: changes of stages are lines of the process's log only.
  package var audit: AuditConfiguration?
  /// Event loops; nil: one per core.
  package var workers: Int?
  /// How long running requests may take to finish after SIGTERM (Default: 30s).
  package var drain: Duration = .seconds(30)
  package var schema: [SchemaSourceConfiguration] = []
  /// The rules of all `service_config:` files in their order; of several for one method the last one wins.
  package var selectedRules: [SelectedRuleConfiguration] = []
  package var upstreams: [UpstreamConfiguration] = []
  package var services: [ServiceConfiguration] = []
  /// Outermost first.
  package var interceptors: [InterceptorConfiguration] = []
  package var limits = LimitsConfiguration()
  package var timeouts = TimeoutsConfiguration()
  /// The upstream for requests that no route matches; nil: they get 404.
  package var fallback: FallbackConfiguration?
  /// Adds `Via: 1.1 turnout` in both directions (Default: false).
  package var via = false
  /// `text` or `json`: the form of all logs but the access log, on stderr (Default: text).
  package var log = LogFormat.text
  package var callers = CallersConfiguration()
  /// Where this gateway runs: endpoints of the same zone are preferred; empty: all are equal.
  package var zone = ""
  /// Where names are asked for; empty: the machine's own.
  package var nameServers: [SocketAddressConfiguration] = []
  /// Files that were read: the main one, the includes, `${file:}` values. A change of one is a reason to reload.
  package var watchedFiles: [String] = []
  /// The texts that it was read from, as they are written: the main file, the includes, the service configurations.
  /// Whoever compiles it lets them go.
  package var documents: [[UInt8]] = []
  /// Files of keys and tokens that interceptors, upstreams and what is asked over TLS name.
  var keyFiles: [String] = []
  /// Every text that came from `${env:}` or `${file:}`, and the admin token: never shown, whatever it became part of.
  package var secrets: Set<String> = []

  package init() {}

  /// Whether a text has a secret in it, so that it must not be shown.
  package func holdsSecret(_ text: String) -> Bool {
    guard !secrets.isEmpty else { return false }
    return secrets.contains { secret in
      secret == text || text.utf8.count > secret.utf8.count && text.contains(part: secret)
    }
  }
}

extension GatewayConfiguration {
  /// Shorter ones are hidden only where they are quoted: else they would blot out parts of words.
  private static let shortestInWords = 4

  /// What was found wrong later than while the file was read, with each secret in it replaced.
  package func hidingSecrets(in diagnostics: [Diagnostic]) -> [Diagnostic] {
    if secrets.isEmpty || diagnostics.isEmpty { return diagnostics }
    // The longest first: one may be a part of another.
    let secrets = secrets.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    return diagnostics.map { diagnostic in
      var diagnostic = diagnostic
      diagnostic.what = Self.hide(secrets, in: diagnostic.what)
      diagnostic.cure = Self.hide(secrets, in: diagnostic.cure)
      return diagnostic
    }
  }

  private static func hide(_ secrets: [String], in text: String) -> String {
    var text = text
    for secret in secrets {
      // As it was written there: of a long one the beginning.
      text = text.replacing(part: quoted(secret), with: "`(a text from outside)`")
      if secret.utf8.count >= shortestInWords { text = text.replacing(part: secret, with: "(a text from outside)") }
    }
    return text
  }
}

extension String {
  /// With another text wherever one stands in it.
  fileprivate func replacing(part: String, with other: String) -> String {
    guard contains(part: part) else { return self }
    var (rest, result) = (Array(utf8)[...], [UInt8]())
    let part = Array(part.utf8)
    while !rest.isEmpty {
      if rest.starts(with: part) {
        result += other.utf8
        rest = rest.dropFirst(part.count)
      } else {
        result += rest.prefix(1)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether another text is a part of it; there is no Foundation to ask.
  fileprivate func contains(part: String) -> Bool {
    let whole = Array(utf8)
    let part = Array(part.utf8)
    guard !part.isEmpty, part.count <= whole.count else { return false }
    return (0...whole.count - part.count).contains { whole[$0..<$0 + part.count].elementsEqual(part) }
  }
}

/// A name of something else in the file, and where it stands.
package struct Reference: Sendable, Equatable {
  package var name: String
  package var position: SourcePosition
  /// Whether it came from `${env:}` or `${file:}`, in whole or in part.
  package var isSecret: Bool

  package init(name: String, position: SourcePosition, isSecret: Bool = false) {
    self.name = name
    self.position = position
    self.isSecret = isSecret
  }

  /// As faults show it.
  package var shown: String { isSecret ? "from outside the file" : quoted(name) }
}

/// The form of log lines: for people, or one JSON object each.
package enum LogFormat: String, Sendable, CaseIterable {
  case text
  case json
}

/// An address to listen on: IPv4 or IPv6 literal and port; port 0 means any free one.
package struct SocketAddressConfiguration: Sendable, Hashable {
  /// Without brackets.
  package var host: String
  package var port: UInt16
  package var position: SourcePosition
  /// Of several listeners that take any free port of the same host, which one this is, from 0.
  package var number = 0

  package init(host: String, port: UInt16, position: SourcePosition) {
    self.host = host
    self.port = port
    self.position = position
  }

  /// Equality without the place: the same address after a reload is the same listener.
  package static func == (left: Self, right: Self) -> Bool {
    left.host == right.host && left.port == right.port && left.number == right.number
  }
  package func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
    hasher.combine(number)
  }

  /// `host:port`, an IPv6 host in brackets.
  package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Whether only this machine can connect to it.
  package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }
}

/// `admin:`, the endpoint for operators.
package struct AdminConfiguration: Sendable, Equatable {
  package var address: SocketAddressConfiguration
  /// A secret; changing verbs need it when it is set.
  package var token: String?
  /// Nil: without TLS.
  package var tls: ListenerTLSConfiguration?

  package init(address: SocketAddressConfiguration, token: String? = nil, tls: ListenerTLSConfiguration? = nil) {
    self.address = address
    self.token = token
    self.tls = tls
  }

  /// What only a restart changes.
  package var lasting: AdminConfiguration {
    var copy = self
    copy.token = nil
    // Whether there is TLS stays; which certificates, a reload may change.
    if tls != nil { copy.tls = ListenerTLSConfiguration(certificates: []) }
    return copy
  }
}

/// `fallback:`, who answers what no route matches, and what a route may say of itself too.
package struct FallbackConfiguration: Sendable {
  package var upstream: Reference
  /// Whether checks of who calls are left out (Default: false).
  package var isPublic = false
  /// Come after those of all routes.
  package var interceptors: [InterceptorConfiguration] = []
  /// Nil in it: what passes has no bound.
  package var limits = RouteSettings.Limits()

  package init(upstream: Reference) { self.upstream = upstream }
}

/// `callers:`, how the programs that call are told apart on the migration dashboard.
package struct CallersConfiguration: Sendable, Equatable {
  /// The field that names the program, in lower case (Default: user-agent).
  package var agentHeader = Array("user-agent".utf8)
  /// The field with its version, in lower case; nil: as the program's field has it.
  package var versionHeader: [UInt8]?

  package init() {}
}

/// One entry of `schema:`.
package struct SchemaSourceConfiguration: Sendable {
  /// What the descriptors are read from.
  package enum Source: Sendable, Equatable {
    /// A FileDescriptorSet; an absolute path or one relative to the working directory, ready to open.
    case descriptorSet(path: String)
    /// `.proto` files by their import names, found under the import paths.
    case protos(files: [String], importPaths: [String])
  }

  package var source: Source
  package var position: SourcePosition

  package init(source: Source, position: SourcePosition) {
    self.source = source
    self.position = position
  }
}
