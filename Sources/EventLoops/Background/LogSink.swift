import Bytes
import Dispatch
import Glibc
import Synchronization

/// Lines of a log on their way to a file or a standard stream, written by a queue of its own.
///
/// Never blocks those who log: what comes while the buffer is full is dropped whole and counted.
public final class LogSink: Sendable {
  public enum Target: Sendable, Hashable {
    case standardOutput
    case standardError
    /// Appended to; made when it is missing.
    case file(path: String)
  }

  /// What has changed about the target.
  public enum Notice: Sendable, Equatable {
    /// It takes nothing: lines are lost from here on.
    case fails(SystemError)
    /// It takes lines again, after so many were lost.
    case works(lost: UInt64)
  }

  private struct Pending: ~Copyable {
    var bytes = ByteBuffer()
    var isWriteScheduled = false
    var dropped: UInt64 = 0
  }

  /// The place written to. Its lock is held while writing, so that batches keep their order; those who log never take it.
  private struct Output: ~Copyable {
    var descriptor: CInt
    /// Whether the last thing written is a part of a line.
    var isInsideLine = false
    var isFailing = false
    var failedAt = Instant(nanoseconds: 0)
    /// Since it began to fail.
    var lost: UInt64 = 0
  }

  private let target: Target
  private let limit: Int
  private let delay: DispatchTimeInterval
  private let queue: DispatchQueue
  private let pending = Mutex(Pending())
  private let output: Mutex<Output>
  private let calm: Duration
  private let noticed: @Sendable (Notice) -> Void

  /// - Parameters:
  ///   - limit: bytes that may wait.
  ///   - delay: how long a first line waits for others to be written with it.
  ///   - calm: a target that fails now and then, as a disk does that is all but full, works again when it has not failed
  ///     for so long.
  ///   - noticed: told once when the target begins to fail, and once when it works again; on the thread that writes.
  public init(
    _ target: Target, limit: Int = 4 * 1_024 * 1_024, delay: Duration = .milliseconds(20),
    calm: Duration = .seconds(5), noticed: @escaping @Sendable (Notice) -> Void = { _ in }
  ) throws(SystemError) {
    self.calm = calm
    self.noticed = noticed
    self.target = target
    self.limit = limit
    self.delay = .nanoseconds(Int(clamping: delay.wholeNanoseconds))
    queue = DispatchQueue(label: "log", qos: .utility)
    output = Mutex(Output(descriptor: try Self.open(target)))
  }

  deinit {
    flush()
    output.withLock { Self.close($0.descriptor, target) }
  }

  /// Lines dropped since the start: the buffer was full, or the target took no more.
  public var dropped: UInt64 { pending.withLock { $0.dropped } }

  /// Hands over one line, its newline included, or several.
  ///
  /// - Parameter lines: how many, for the count of dropped ones.
  public func write(_ line: Span<UInt8>, lines: Int = 1) {
    let isFirst = pending.withLock { pending in
      if line.count > limit - pending.bytes.count {
        pending.dropped &+= UInt64(clamping: lines)
        return false
      }
      // One allocation for most batches, instead of one for each doubling.
      if pending.bytes.isEmpty { pending.bytes.reserve(16_384) }
      pending.bytes.append(line)
      if pending.isWriteScheduled { return false }
      pending.isWriteScheduled = true
      return true
    }
    if isFirst {
      queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.flush() }
    }
  }

  /// As ``write(_:lines:)``, with a newline added.
  public func write(line: String) {
    var bytes = ByteBuffer()
    bytes.append(text: line)
    bytes.append(UInt8(ascii: "\n"))
    write(bytes.span)
  }

  /// Writes all that was handed over so far, on the caller's thread.
  public func flush() {
    output.withLock { writePending(to: &$0) }
  }

  /// Opens the file anew by its name, after a rotation has moved it; lines before this go to the old file.
  ///
  /// - Throws: why it cannot be opened; the old file stays in use.
  public func reopen() throws(SystemError) {
    guard case .file = target else { return }
    let fresh = try Self.open(target)
    output.withLock { output in
      writePending(to: &output)
      Self.close(output.descriptor, target)
      output.descriptor = fresh
      output.isInsideLine = false
    }
  }

  private func writePending(to output: inout Output) {
    var bytes = pending.withLock { pending in
      var taken = ByteBuffer()
      swap(&taken, &pending.bytes)
      pending.isWriteScheduled = false
      return taken
    }
    if bytes.isEmpty { return }
    if output.isInsideLine, !Self.isEmptied(output.descriptor) {
      // What was torn off stays by itself, so that whoever reads the lines loses that one only.
      var end = ByteBuffer()
      end.append(UInt8(ascii: "\n"))
      if let error = Self.write(&end, to: output.descriptor, isInsideLine: &output.isInsideLine) {
        return failed(error, bytes, &output)
      }
    }
    if let error = Self.write(&bytes, to: output.descriptor, isInsideLine: &output.isInsideLine) {
      return failed(error, bytes, &output)
    }
    guard output.isFailing, Instant.now() - output.failedAt >= calm else { return }
    output.isFailing = false
    noticed(.works(lost: output.lost))
    output.lost = 0
  }

  private func failed(_ error: SystemError, _ rest: borrowing ByteBuffer, _ output: inout Output) {
    var lines: UInt64 = 0
    rest.withSpan { span in
      for place in span.indices where span[place] == UInt8(ascii: "\n") { lines += 1 }
    }
    pending.withLock { $0.dropped &+= lines }
    output.lost &+= lines
    output.failedAt = Instant.now()
    if !output.isFailing {
      output.isFailing = true
      noticed(.fails(error))
    }
  }
}
