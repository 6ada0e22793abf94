import Dispatch
import EventLoops
import Files
import Glibc
import Migration
import Synchronization

/// The file that a restart reads: written whole, beside the old one, which is replaced when the new one is on the disk.
///
/// Never on the way of a request, nor of who changes a stage: a queue of its own writes, and of changes that come close
/// together once. What cannot be written is tried again.
final class StateFile: Sendable {
  enum Operation: String, Sendable, CaseIterable {
    case read
    case write
  }

  private struct State {
    var isScheduled = false
    /// Of the last that was planned: one that was written before its time is not tried again at it.
    var turn = 0
    var isFailing = false
  }

  /// How long changes wait for others.
  private static let pause = DispatchTimeInterval.milliseconds(50)
  private static let retry = DispatchTimeInterval.seconds(5)

  let path: String
  private let queue = DispatchQueue(label: "state", qos: .utility)
  private let state = Mutex(State())
  private let content: @Sendable () -> StateFileContent?
  private let failed: @Sendable (Operation, String) -> Void

  /// - Parameters:
  ///   - content: what is to be written; asked when it is. Nil: nobody knows any more, and the file stays as it is.
  ///   - failed: told what went wrong, once for each series of failures.
  init(
    path: String, content: @escaping @Sendable () -> StateFileContent?,
    failed: @escaping @Sendable (Operation, String) -> Void
  ) {
    self.path = path
    self.content = content
    self.failed = failed
  }

  // MARK: Reading

  /// What the last process left; nil when there is nothing. A file that cannot be used is kept aside; a folder or a
  /// device, which somebody named by mistake, stays where it is.
  func read() -> StateFileContent? {
    do throws(StateFault) {
      guard let bytes = try readAll() else { return nil }
      return try StateFileContent(parsing: bytes)
    } catch {
      let aside = path + ".broken"
      let isAside = !isOccupied && rename(path, aside) == 0
      failed(.read, "the state file \(path) cannot be used: \(error.reason)" + (isAside ? "; it is \(aside) now" : ""))
      return nil
    }
  }

  /// Whether there is something at the path that is no file, and must not be replaced by one.
  private var isOccupied: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  private func readAll() throws(StateFault) -> [UInt8]? {
    if isOccupied { throw StateFault("it is not a regular file") }
    do throws(FileFault) {
      return try WholeFile(path, limit: StateFileContent.maximumBytes).bytes
    } catch {
      if error.kind == .unreadable(ENOENT) { return nil }
      throw StateFault(error.reason)
    }
  }

  // MARK: Writing

  /// Something has changed: it is on the disk soon.
  func changed() { schedule(after: Self.pause) }

  private func schedule(after pause: DispatchTimeInterval) {
    let turn: Int? = state.withLock { state in
      if state.isScheduled { return nil }
      state.isScheduled = true
      state.turn &+= 1
      return state.turn
    }
    guard let turn else { return }
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in
      guard let self, state.withLock({ $0.turn == turn }) else { return }
      writeIfScheduled()
    }
  }

  /// Writes what is to be written, on the caller's thread; for the end of the process.
  func flush() { queue.sync { writeIfScheduled() } }

  /// Waits a moment for what has changed to be on the disk.
  ///
  /// - Returns: whether it is; what is not is tried again.
  func settle(within time: DispatchTimeInterval) -> Bool {
    let done = DispatchSemaphore(value: 0)
    queue.async { [weak self] in
      self?.writeIfScheduled()
      done.signal()
    }
    return done.wait(timeout: .now() + time) == .success && state.withLock { !$0.isFailing }
  }

  /// Finds out whether a change could be written, before there is one: a folder that is missing or read-only should not
  /// come to light when a guard has just taken a route back. Nothing is left behind.
  func probe() {
    queue.sync {
      do throws(SystemError) {
        try tryToWrite()
        state.withLock { $0.isFailing = false }
      } catch {
        // Each time: somebody has just started it, or reloaded, and looks.
        state.withLock { $0.isFailing = true }
        failed(
          .write,
          "the state file \(path) could not be written, and what is set at run time would not outlive a restart: \(error)"
        )
      }
    }
  }

  private func tryToWrite() throws(SystemError) {
    if isOccupied { throw SystemError(call: "rename", code: EEXIST) }
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError(call: "open", code: errno) }
    close(descriptor)
    unlink(beside)
  }

  /// Not when somebody has flushed in the meantime: whoever knows the content may be gone by then.
  private func writeIfScheduled() {
    let isScheduled = state.withLock { state in
      defer { state.isScheduled = false }
      return state.isScheduled
    }
    guard isScheduled, let content = content() else { return }
    do throws(SystemError) {
      try replace(with: content.bytes(writtenAt: WallClock.now().text))
      state.withLock { $0.isFailing = false }
    } catch {
      let isNew = state.withLock { state in
        defer { state.isFailing = true }
        return !state.isFailing
      }
      if isNew { failed(.write, "the state file \(path) cannot be written, and is tried again: \(error)") }
      schedule(after: Self.retry)
    }
  }

  /// A crash at any moment leaves the old file or the new one.
  private func replace(with bytes: [UInt8]) throws(SystemError) {
    if isOccupied { throw SystemError(call: "rename", code: EEXIST) }
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError(call: "open", code: errno) }
    do throws(SystemError) {
      defer { close(descriptor) }
      try write(bytes, to: descriptor)
      guard fsync(descriptor) == 0 else { throw SystemError(call: "fsync", code: errno) }
    } catch {
      unlink(beside)
      throw error
    }
    guard rename(beside, path) == 0 else { throw SystemError(call: "rename", code: errno) }
    // The name, too, has to be on the disk.
    let folder = open(String(path.lastIndex(of: "/").map { path[...$0] } ?? "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    defer { close(folder) }
    _ = fsync(folder)
  }

  private func write(_ bytes: [UInt8], to descriptor: CInt) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        Glibc.write(descriptor, all.baseAddress.map { $0 + done }, all.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError(call: "write", code: count == 0 ? ENOSPC : errno) }
      done += count
    }
  }
}
