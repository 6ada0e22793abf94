import CLinux
import Glibc
import Synchronization

/// The way from other threads to one loop.
public final class Mailbox: Sendable {
  public typealias Job = @Sendable (EventLoop) -> Void

  private struct Jobs {
    var waiting: [Job] = []
    var isRefusing = false
  }

  private let jobs = Mutex(Jobs())
  /// An eventfd, readable while there may be jobs.
  let descriptor: CInt

  public init() throws(SystemError) {
    descriptor = try required("eventfd") { eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC)) }
  }

  deinit {
    close(descriptor)
  }

  /// Has the loop run the job on its own thread, in the order of posting. May be called from any thread, the loop's too.
  ///
  /// - Returns: false when the loop has ended: then the job is dropped.
  @discardableResult
  public func post(_ job: @escaping Job) -> Bool {
    let (isTaken, isFirst) = jobs.withLock { jobs in
      if jobs.isRefusing { return (false, false) }
      jobs.waiting.append(job)
      return (true, jobs.waiting.count == 1)
    }
    // One wake for a batch: whoever finds jobs waiting knows that the loop has been woken.
    if isFirst { wake() }
    return isTaken
  }

  /// Runs what is waiting. What these jobs post comes in the next tick.
  func run(on loop: EventLoop) {
    var count: UInt64 = 0
    _ = uninterrupted { read(descriptor, &count, 8) }
    let batch = jobs.withLock { jobs in
      let batch = jobs.waiting
      jobs.waiting = []
      return batch
    }
    for job in batch { job(loop) }
  }

  func refuse() {
    let dropped = jobs.withLock { jobs in
      let dropped = jobs.waiting
      jobs.waiting = []
      jobs.isRefusing = true
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }

  private func wake() {
    var one: UInt64 = 1
    _ = uninterrupted { write(descriptor, &one, 8) }
  }
}
