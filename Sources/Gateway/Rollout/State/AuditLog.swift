import Bytes
import EventLoops
import JSONValues
import Migration

/// A line of JSON for each change of a stage and each reload: who or what, when and why.
final class AuditLog: Sendable {
  private let sink: LogSink
  private let replica: String

  /// - Parameters:
  ///   - replica: who writes; several may write to one place.
  ///   - noticed: told when the file takes nothing, and when it does again.
  init(
    path: String, replica: String, noticed: @escaping @Sendable (LogSink.Notice) -> Void = { _ in }
  ) throws(SystemError) {
    sink = try LogSink(.file(path: path), noticed: noticed)
    self.replica = replica
  }

  /// - Parameter sequence: the event's number; lines are to come in the order of these.
  func write(_ record: StageChangeRecord, _ sequence: UInt64) {
    write(record.place(replica, sequence) + record.members)
  }

  func write(_ record: ReloadRecord, _ sequence: UInt64) { write(record.place(replica, sequence) + record.members) }

  private func write(_ members: [JSONValue.Member]) {
    var line = ByteBuffer()
    JSONValue.object(members).write(into: &line)
    line.append("\n")
    sink.write(line.span)
  }

  /// Opens the file anew, after a rotation.
  func reopen() throws(SystemError) { try sink.reopen() }

  func flush() { sink.flush() }
}
