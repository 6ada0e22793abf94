import CLinux
import Dispatch
import Synchronization

/// A thread of its own, for a loop.
///
/// It takes no signals: they are for the process's other threads.
public struct LoopThread: Sendable {
  private let thread: UInt

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a thread that runs the body and ends.
  ///
  /// - Parameter name: for ps and debuggers; the kernel keeps 15 bytes.
  public static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> LoopThread {
    let argument = Unmanaged.passRetained(Start(name: name, body: body))
    var thread: UInt = 0
    let code = clinux_start_thread(&thread, enter, argument.toOpaque())
    if code != 0 {
      argument.release()
      throw SystemError(call: "pthread_create", code: code)
    }
    return LoopThread(thread: thread)
  }

  /// Starts a thread that makes a loop, runs it until somebody stops it, and ends; returns when the loop is there.
  ///
  /// - Parameters:
  ///   - begin: run on the new thread before the first tick, and let go then. What it throws ends the thread.
  ///   - end: run on it when the loop has stopped, before what lives on the loop is let go.
  /// - Throws: what `begin` threw, or when the machine has no thread or descriptor left. The mailbox then takes no jobs,
  ///   and those that waited are let go.
  public static func running(
    name: String, mailbox: Mailbox, begin: @escaping @Sendable (EventLoop) throws(SystemError) -> Void = { _ in },
    end: @escaping @Sendable (EventLoop) -> Void = { _ in }
  ) throws(SystemError) -> LoopThread {
    let start = LoopStart(begin)
    let thread: LoopThread
    do throws(SystemError) {
      thread = try self.start(name: name) { run(name, mailbox, start, end) }
    } catch {
      mailbox.refuse()
      throw error
    }
    if let error = start.wait() {
      thread.join()
      throw error
    }
    return thread
  }

  private static func run(_ name: String, _ mailbox: Mailbox, _ start: LoopStart, _ end: (EventLoop) -> Void) {
    do throws(SystemError) {
      let loop = try EventLoop(name: name, mailbox: mailbox)
      // They hold each other.
      defer { loop.resident = nil }
      if let begin = start.take() { try begin(loop) }
      start.finish(nil)
      loop.run()
      end(loop)
    } catch {
      mailbox.refuse()
      start.finish(error)
    }
  }

  private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    clinux_name_thread(start.name)
    start.body()
    return nil
  }

  /// Waits for the thread to end; once per thread.
  public func join() {
    clinux_join_thread(thread)
  }

  /// Lets the thread go, instead of ``join()``: nobody waits for its end.
  public func detach() {
    clinux_detach_thread(thread)
  }
}

/// Carries what is to be done at the start to the new thread, and what came of it to the one that waits.
private final class LoopStart: Sendable {
  typealias Begin = @Sendable (EventLoop) throws(SystemError) -> Void

  private let begin: Mutex<Begin?>
  private let outcome = Mutex<SystemError?>(nil)
  private let finished = DispatchSemaphore(value: 0)

  init(_ begin: @escaping Begin) { self.begin = Mutex(begin) }

  /// What it holds, such as a first snapshot, must not live as long as the thread.
  func take() -> Begin? { begin.withLock { $0.take() } }

  func finish(_ error: SystemError?) {
    outcome.withLock { $0 = error }
    finished.signal()
  }

  func wait() -> SystemError? {
    finished.wait()
    return outcome.withLock { $0 }
  }
}
