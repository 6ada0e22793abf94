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
  ///   - failed: told why connections cannot be taken, once for each series of failures; on the server's own thread.
  ///   - handler: called on the server's own thread.
  /// - Throws: when the port is taken, or the machine has no descriptors or threads left.
  package init(
    address: SocketAddress, name: String, limits: LocalServerLimits = LocalServerLimits(),
    security: LocalServerSecurity? = nil, failed: @escaping @Sendable (String) -> Void = { _ in },
    handler: @escaping @Sendable (LocalRequest) -> LocalResponse
  ) throws(SystemError) {
    let listener = try ListeningSocket(address: address, backlog: 128)
    let mailbox = try Mailbox()
    self.address = listener.address
    self.mailbox = mailbox
    let configuration = LocalServerConfiguration(
      name: name, limits: limits, security: security, failed: failed, handler: handler)
    thread = Mutex(
      try LoopThread.running(name: name, mailbox: mailbox) { (loop) throws(SystemError) in
        let acceptor = LocalAcceptor(loop: loop, listener: listener, configuration: configuration)
        loop.resident = acceptor
        try acceptor.open()
      } end: { loop in
        (loop.resident as? LocalAcceptor)?.closeAll()
      })
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
}

/// What all connections of a server share.
final class LocalServerConfiguration: Sendable {
  let name: String
  let limits: LocalServerLimits
  let security: LocalServerSecurity?
  let failed: @Sendable (String) -> Void
  let handler: @Sendable (LocalRequest) -> LocalResponse

  init(
    name: String, limits: LocalServerLimits, security: LocalServerSecurity?,
    failed: @escaping @Sendable (String) -> Void, handler: @escaping @Sendable (LocalRequest) -> LocalResponse
  ) {
    self.name = name
    self.limits = limits
    self.security = security
    self.failed = failed
    self.handler = handler
  }
}
