import CLinux

/// A thread of its own, for a loop.
///
/// It takes no signals: they are for the process's other threads.
package struct LoopThread: Sendable {
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
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> LoopThread {
    let argument = Unmanaged.passRetained(Start(name: name, body: body))
    var thread: UInt = 0
    let code = clinux_start_thread(&thread, enter, argument.toOpaque())
    if code != 0 {
      argument.release()
      throw SystemError(call: "pthread_create", code: code)
    }
    return LoopThread(thread: thread)
  }

  private static let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    clinux_name_thread(start.name)
    start.body()
    return nil
  }

  /// Waits for the thread to end; once per thread.
  package func join() {
    clinux_join_thread(thread)
  }

  /// Lets the thread go, instead of ``join()``: nobody waits for its end.
  package func detach() {
    clinux_detach_thread(thread)
  }
}
