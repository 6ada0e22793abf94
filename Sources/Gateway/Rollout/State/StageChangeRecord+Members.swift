import EventLoops
import JSONValues
import Migration

extension StageChangeRecord {
  /// What an event of this kind is called in logs.
  static let eventName = "stage_change"

  /// The same members in the same order wherever the change is told: in the audit log, in the process's own log, and at
  /// `GET /audit`. What is not known is null.
  var members: [JSONValue.Member] {
    [
      .init("event", .string(Self.eventName)), .init("procedure", .string(procedure)),
      .init("action", .string(action.rawValue)), .init("from", StageDocument.json(from)),
      .init("to", StageDocument.json(to)), .init("kind", .string(origin.kind.rawValue)),
      .init("actor", .string(origin.actor)), .init("agent", origin.client.map { .string($0.agent) } ?? .null),
      .init("token", origin.client.map { .bool($0.showedToken) } ?? .null), .init("reason", .string(origin.reason)),
    ]
  }

  /// When it was, and where: before ``members``, where nothing else says so.
  ///
  /// - Parameters:
  ///   - replica: who tells it; several may write to one place.
  ///   - sequence: which event of that process it is, from 1.
  func place(_ replica: String, _ sequence: UInt64) -> [JSONValue.Member] {
    [
      .init("time", .time(sinceEpoch: origin.at)), .init("replica", .string(replica)),
      .init("sequence", .integer(sequence)),
    ]
  }
}
