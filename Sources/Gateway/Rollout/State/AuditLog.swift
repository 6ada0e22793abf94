import Bytes
import EventLoops
import JSONValues
import Migration

/// A line of JSON for each change of a stage: who or what, when and why.
final class AuditLog: Sendable {
  private let sink: LogSink
  private let replica: String

  /// - Parameter replica: who writes; several may write to one place.
  init(path: String, replica: String) throws(SystemError) {
    sink = try LogSink(.file(path: path))
    self.replica = replica
  }

  func write(_ record: StageChangeRecord) {
    var line = ByteBuffer()
    Self.write(record, by: replica, into: &line)
    sink.write(line.span)
  }

  /// Appends one line, whatever is in the texts that clients and operators chose.
  static func write(_ record: StageChangeRecord, by replica: String, into line: inout ByteBuffer) {
    let origin = record.origin
    var members: [JSONValue.Member] = [
      .init("time", .string(WallTime(sinceEpoch: origin.at).text)), .init("replica", .string(replica)),
      .init("procedure", .string(record.procedure)), .init("action", .string(record.action.rawValue)),
      .init("from", StageDocument.json(record.from)), .init("to", StageDocument.json(record.to)),
      .init("kind", .string(origin.kind.rawValue)), .init("actor", .string(origin.actor)),
    ]
    if let client = origin.client {
      members.append(.init("agent", .string(client.agent)))
      members.append(.init("token", .bool(client.showedToken)))
    }
    members.append(.init("reason", .string(origin.reason)))
    JSONValue.object(members).write(into: &line)
    line.append("\n")
  }

  /// Opens the file anew, after a rotation.
  func reopen() throws(SystemError) { try sink.reopen() }

  func flush() { sink.flush() }
}
