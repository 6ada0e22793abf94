import CLinux
public import Dispatch
import Glibc
import Synchronization

/// Calls back for signals that the process gets, on a queue.
///
/// Whichever thread the kernel picks: the signal's handler only adds one to an eventfd, which Dispatch reads. Several
/// signals of a number that come close together may be told as one. One watcher per number at a time.
public final class SignalWatcher: Sendable {
  private let descriptors: [(number: CInt, descriptor: CInt)]
  private let sources: Mutex<[any DispatchSourceRead]>

  /// - Parameters:
  ///   - numbers: such as SIGTERM.
  ///   - onSignal: called on the queue with the number.
  public init(
    _ numbers: [CInt], queue: DispatchQueue, onSignal: @escaping @Sendable (CInt) -> Void
  ) throws(SystemError) {
    var descriptors: [(number: CInt, descriptor: CInt)] = []
    do throws(SystemError) {
      for number in numbers {
        let descriptor = try required("eventfd") { eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC)) }
        descriptors.append((number, descriptor))
        try required("sigaction") { clinux_watch_signal(number, descriptor) }
      }
    } catch {
      for (number, descriptor) in descriptors {
        _ = clinux_watch_signal(number, -1)
        close(descriptor)
      }
      throw error
    }
    self.descriptors = descriptors
    sources = Mutex(descriptors.map { Self.source($0, $1, queue, onSignal) })
  }

  deinit {
    for (number, _) in descriptors { _ = clinux_watch_signal(number, -1) }
    // Each source closes its descriptor when it has really ended.
    sources.withLock { for source in $0 { source.cancel() } }
  }

  /// Has the process survive writes to pipes that nobody reads: they fail with EPIPE instead.
  public static func ignoreBrokenPipes() {
    _ = clinux_ignore_signal(SIGPIPE)
  }

  private static func source(
    _ number: CInt, _ descriptor: CInt, _ queue: DispatchQueue, _ onSignal: @escaping @Sendable (CInt) -> Void
  ) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { @Sendable in
      var count: UInt64 = 0
      if uninterrupted({ read(descriptor, &count, 8) }) == 8 { onSignal(number) }
    }
    source.setCancelHandler { @Sendable in _ = close(descriptor) }
    source.resume()
    return source
  }
}
