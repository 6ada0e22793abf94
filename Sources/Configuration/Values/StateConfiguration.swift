package import Diagnostics

/// One entry of `redis:`, a server that replicas share.
package struct RedisConfiguration: Sendable, Equatable {
  package enum Address: Sendable, Equatable {
    /// A name, or a literal without brackets.
    case host(String, port: UInt16)
    /// A socket of this machine, ready to open.
    case unix(path: String)
  }

  package var name: String
  package var position: SourcePosition
  package var address: Address
  /// Nil: the server's default user.
  package var username: String?
  /// A secret.
  package var password: String?
  /// (Default: 0)
  package var database = 0
  /// Nil: without TLS.
  package var tls: UpstreamTLSConfiguration?
  /// Of one command (Default: 500ms).
  package var timeout: Duration = .milliseconds(500)
  /// Of all keys and channels there (Default: `turnout:`).
  package var prefix = "turnout:"

  package init(name: String, position: SourcePosition, address: Address) {
    self.name = name
    self.position = position
    self.address = address
  }
}

/// `state:`, what operators, guards and ramps changed at run time, and where it is kept.
package struct StateConfiguration: Sendable, Equatable {
  /// Written by this process, read by the next; nil: a restart forgets.
  package var file: FileReference?
  /// The Redis server over which replicas share it; nil: each has its own.
  package var redis: Reference?

  package init() {}

  /// What it says, wherever in the file it stands.
  package var places: [String?] { [file?.path, redis?.name] }
}

/// `audit:`, a log of its own for changes of stages.
package struct AuditConfiguration: Sendable, Equatable {
  /// A file, reopened on SIGUSR1.
  package var path: FileReference

  package init(path: FileReference) { self.path = path }
}
