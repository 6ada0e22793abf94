import Configuration
import EventLoops
import Redis
import TransportSecurity

/// A Redis server as a snapshot knows it: where it is, who we are there, how long we wait.
struct RedisEndpoint: Sendable {
  let name: String
  let address: RedisConfiguration.Address
  let login: RedisSession.Login
  /// Of all keys and channels.
  let prefix: String
  /// Of one command.
  let timeout: Duration
  let connectTimeout: Duration
  /// Nil: without TLS.
  let security: UpstreamSecurity?

  init(_ configuration: RedisConfiguration, connectTimeout: Duration, security: UpstreamSecurity?) {
    name = configuration.name
    address = configuration.address
    login = RedisSession.Login(
      username: configuration.username, password: configuration.password, database: configuration.database)
    prefix = configuration.prefix
    timeout = configuration.timeout
    self.connectTimeout = connectTimeout
    self.security = security
  }

  /// Whether a connection to the other may be used for this one.
  func isSame(as other: RedisEndpoint) -> Bool {
    name == other.name && address == other.address && login == other.login && timeout == other.timeout
      && prefix == other.prefix && connectTimeout == other.connectTimeout
      && security?.fingerprint == other.security?.fingerprint
  }

  /// What its certificate has to be for.
  var serverName: String {
    if let name = security?.serverName { return name }
    switch address {
    case .host(let host, _): return host
    case .unix: return ""
    }
  }

  /// For a log.
  var place: String {
    switch address {
    case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}

/// Why a command has no reply.
enum RedisFailure: Error, Sendable, Equatable {
  /// There is no connection at present.
  case away
  /// Too many commands wait for an answer.
  case busy
  /// No answer in time. The server may have run the command.
  case timedOut
  /// It did not keep the time of those before: it is left in peace for a moment.
  case slow
  /// The connection ended before the answer. The server may have run the command.
  case lost
  /// The server's own words.
  case refused(String)

  /// For a metric.
  var label: String {
    switch self {
    case .away: "away"
    case .busy: "busy"
    case .timedOut: "timeout"
    case .slow: "slow"
    case .lost: "lost"
    case .refused: "refused"
    }
  }
}
