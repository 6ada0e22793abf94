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

  func write(_ record: StageChangeRecord) { write(record.place(replica) + record.members) }

  func write(_ record: ReloadRecord) { write(record.place(replica) + record.members) }

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
