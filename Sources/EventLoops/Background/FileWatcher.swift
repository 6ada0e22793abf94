import CLinux
import Dispatch
import Glibc
import Synchronization

/// Calls back when one of a set of files has changed: written, replaced, removed, or reached over a link that now
/// points elsewhere (a mounted ConfigMap swaps the link of a folder).
///
/// Watches the folders, not the files, since editors and mounts put a new file under the old name. A callback comes
/// once things have settled: the files look the same at two looks in a row, and differ from what was last reported.
public final class FileWatcher: Sendable {
  private struct State {
    var files: [String] = []
    /// Watched folders by the kernel's number for each.
    var watches: [CInt: String] = [:]
    var reported: [FileFingerprint] = []
    var seen: [FileFingerprint] = []
    var isLookScheduled = false
    var source: (any DispatchSourceRead)?
  }

  private let queue: DispatchQueue
  private let settle: DispatchTimeInterval
  private let onChange: @Sendable ([String]) -> Void
  private let descriptor: CInt
  private let state = Mutex(State())

  /// - Parameters:
  ///   - settle: the time between two looks.
  ///   - onChange: called with the files that have changed, on a serial queue of the watcher's own.
  /// - Throws: the machine's bound on watches, or descriptors, is reached. A file or folder that is missing is no error.
  public init(
    files: [String], settle: Duration = .milliseconds(100), onChange: @escaping @Sendable ([String]) -> Void
  ) throws(SystemError) {
    queue = DispatchQueue(label: "files", qos: .utility)
    self.settle = .nanoseconds(Int(clamping: settle.wholeNanoseconds))
    self.onChange = onChange
    let opened = try required("inotify_init1") { inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC)) }
    descriptor = opened
    if let failure = watch(files) { throw failure }
    state.withLock { state in
      let source = DispatchSource.makeReadSource(fileDescriptor: opened, queue: queue)
      source.setEventHandler { @Sendable [weak self] in self?.noted() }
      source.setCancelHandler { @Sendable in _ = close(opened) }
      source.resume()
      state.source = source
    }
  }

  deinit {
    // The source closes the descriptor when it has really ended.
    let isCancelled = state.withLock { state in
      state.source?.cancel()
      return state.source != nil
    }
    if !isCancelled { close(descriptor) }
  }

  /// Watches these files from now on, and no others. What a new one is now counts as reported: who reads it should do
  /// so after this call. One that was watched before keeps what was reported, so that a change in between is not lost.
  ///
  /// - Returns: why a folder cannot be watched, when the kernel's bounds are reached.
  @discardableResult
  public func watch(_ files: [String]) -> SystemError? {
    state.withLock { state in
      let known = Dictionary(zip(state.files, state.reported)) { first, _ in first }
      state.files = files
      // First the watches, then the look: what changes after it makes an event.
      let failure = follow(&state)
      state.seen = files.map(FileFingerprint.init(path:))
      state.reported = zip(files, state.seen).map { known[$0] ?? $1 }
      if state.reported != state.seen { scheduleLook(&state) }
      return failure
    }
  }

  /// Something happened in a watched folder.
  private func noted() {
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { room in
      // Which name it was says little: a link further up may have moved. A look at the files tells.
      while uninterrupted({ read(descriptor, room.baseAddress, room.count) }) > 0 {}
    }
    state.withLock { scheduleLook(&$0) }
  }

  private func scheduleLook(_ state: inout State) {
    if state.isLookScheduled { return }
    state.isLookScheduled = true
    queue.asyncAfter(deadline: .now() + settle) { [weak self] in self?.look() }
  }

  private func look() {
    let changed: [String] = state.withLock { state in
      state.isLookScheduled = false
      // Links that have moved lead through other folders now.
      follow(&state)
      let present = state.files.map(FileFingerprint.init(path:))
      if present != state.seen {
        state.seen = present
        scheduleLook(&state)
        return []
      }
      let changed = state.files.indices.filter { present[$0] != state.reported[$0] }.map { state.files[$0] }
      state.reported = present
      return changed
    }
    if !changed.isEmpty { onChange(changed) }
  }

  /// Brings the watched folders in line with where the files' paths lead.
  @discardableResult
  private func follow(_ state: inout State) -> SystemError? {
    var failure: SystemError?
    var wanted: Set<String> = []
    for file in state.files { wanted.formUnion(WatchedFolders.folders(of: file)) }
    let mask =
      // Not every write: a log that grows in the same folder would wake us each time.
      IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF
      | IN_MOVE_SELF
    var watches: [CInt: String] = [:]
    for folder in wanted {
      // Adding one that is watched gives its number again, and a folder made anew under an old name a new one.
      let number = uninterrupted { Int(inotify_add_watch(descriptor, folder, UInt32(mask))) }
      if number >= 0 {
        watches[CInt(number)] = folder
      } else if number == -Int(ENOSPC) || number == -Int(ENOMEM) {
        failure = SystemError(call: "inotify_add_watch", code: CInt(-number))
      }
    }
    for number in state.watches.keys where watches[number] == nil { _ = inotify_rm_watch(descriptor, number) }
    state.watches = watches
    return failure
  }
}
