import Synchronization
package import TransportSecurity

/// How a ``LocalServer`` speaks TLS; a reload may put other certificates in its place.
package final class LocalServerSecurity: Sendable {
  private let current: Mutex<ServerContext>

  package init(_ context: ServerContext) { current = Mutex(context) }

  /// For connections that begin from now on.
  package var context: ServerContext {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}
