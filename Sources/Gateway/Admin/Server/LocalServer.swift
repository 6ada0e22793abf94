import Dispatch
package import EventLoops
import Synchronization

/// A small HTTP/1.1 server with one loop thread of its own: the admin endpoint, probes, the demo's backends.
///
/// Requests are handed over whole and answered one after another: while the handler runs, the server's other
/// connections wait. Keep-alive, pipelining, chunked requests, `Expect: 100-continue` and HEAD are understood;
/// trailers of requests are dropped. Listening begins in `init`.
package final class LocalServer: Sendable {
  /// Where it listens, with the port that was bound in place of 0.
  package let address: SocketAddress
  private let mailbox: Mailbox
  private let thread: Mutex<LoopThread?>

  /// - Parameters:
  ///   - name: of the thread; the kernel keeps 15 bytes.
  ///   - security: nil: without TLS.
  ///   - handler: called on the server's own thread.
  /// - Throws: when the port is taken, or the machine has no descriptors or threads left.
  package init(
    address: SocketAddress, name: String, limits: LocalServerLimits = LocalServerLimits(),
    security: LocalServerSecurity? = nil, handler: @escaping @Sendable (LocalRequest) -> LocalResponse
  ) throws(SystemError) {
    let listener = try ListeningSocket(address: address, backlog: 128)
    let mailbox = try Mailbox()
    let start = LocalServerStart()
    self.address = listener.address
    self.mailbox = mailbox
    let configuration = LocalServerConfiguration(name: name, limits: limits, security: security, handler: handler)
    thread = Mutex(
      try LoopThread.start(name: name) {
        Self.serve(listener, mailbox, configuration, start)
      })
    if let error = start.wait() {
      join()
      throw error
    }
  }

  deinit {
    stop()
    // Not joined, because this may run on the thread itself.
    thread.withLock { $0.take() }?.detach()
  }

  /// Closes the listener and all connections, soon. Answers that are written already arrive; one that is delayed, or
  /// that its client is slow to take, is cut. May be called from the handler.
  package func stop() {
    mailbox.post { $0.stop() }
  }

  /// Waits for the thread to end after ``stop()``. Not from the handler: it would wait for itself.
  package func join() {
    thread.withLock { $0.take() }?.join()
  }

  private static func serve(
    _ listener: ListeningSocket, _ mailbox: Mailbox, _ configuration: LocalServerConfiguration,
    _ start: LocalServerStart
  ) {
    do {
      let loop = try EventLoop(name: configuration.name, mailbox: mailbox)
      let acceptor = LocalAcceptor(loop: loop, listener: listener, configuration: configuration)
      try acceptor.open()
      start.finish(nil)
      loop.run()
      acceptor.closeAll()
    } catch {
      start.finish(error)
    }
  }
}

/// What all connections of a server share.
final class LocalServerConfiguration: Sendable {
  let name: String
  let limits: LocalServerLimits
  let security: LocalServerSecurity?
  let handler: @Sendable (LocalRequest) -> LocalResponse

  init(
    name: String, limits: LocalServerLimits, security: LocalServerSecurity?,
    handler: @escaping @Sendable (LocalRequest) -> LocalResponse
  ) {
    self.name = name
    self.limits = limits
    self.security = security
    self.handler = handler
  }
}

/// Carries what happened at the start from the new thread to the one that waits for it.
private final class LocalServerStart: Sendable {
  private let outcome = Mutex<SystemError?>(nil)
  private let finished = DispatchSemaphore(value: 0)

  func finish(_ error: SystemError?) {
    outcome.withLock { $0 = error }
    finished.signal()
  }

  func wait() -> SystemError? {
    finished.wait()
    return outcome.withLock { $0 }
  }
}
