import Diagnostics
import EventLoops
import JSONValues

/// One reload of the configuration, or a request for one that was refused: an event of the audit log.
struct ReloadRecord: Sendable {
  enum Outcome: String, Sendable {
    case ok
    /// The configuration is faulty; the old one goes on.
    case failed
    /// Who asked may not.
    case refused
  }

  /// What set it off.
  enum Cause: Sendable {
    /// `POST /reload`.
    case admin(AdminActor)
    case signal
    /// A file of the configuration changed.
    case file

    var kind: String {
      switch self {
      case .admin: "admin"
      case .signal: "signal"
      case .file: "file"
      }
    }

    /// For people.
    var text: String {
      switch self {
      case .admin: "POST /reload"
      case .signal: "SIGHUP"
      case .file: "a file changed"
      }
    }

    var actor: AdminActor? { if case .admin(let actor) = self { actor } else { nil } }
  }

  /// What an event of this kind is called in logs.
  static let eventName = "reload"

  var outcome: Outcome
  var cause: Cause
  /// The first fault, or why it was refused; empty: nothing is wrong.
  var error = ""
  /// How many faults there are.
  var errors = 0
  /// The hash of the configuration that serves after it.
  var config = ""
  /// Nanoseconds since 1970.
  var at: Int64

  /// The same members in the same order in the audit log, in the process's own log, and at `GET /audit`. What is not known
  /// is null.
  var members: [JSONValue.Member] {
    let actor = cause.actor
    return [
      .init("event", .string(Self.eventName)), .init("outcome", .string(outcome.rawValue)),
      .init("kind", .string(cause.kind)), .init("actor", .string(actor?.address ?? "")),
      .init("agent", actor.map { .string($0.agent) } ?? .null),
      .init("token", actor.map { .bool($0.showedToken) } ?? .null), .init("error", .string(error)),
      .init("errors", .integer(UInt64(errors))), .init("config", .string(config)),
    ]
  }

  /// When it was, where, and which event of that process it is.
  func place(_ replica: String, _ sequence: UInt64) -> [JSONValue.Member] {
    [
      .init("time", .time(sinceEpoch: at)), .init("replica", .string(replica)), .init("sequence", .integer(sequence)),
    ]
  }
}
