import CAres

/// The library's sockets, as the loop knows them.
///
/// An object of its own, because the library still talks about sockets while the resolver ends.
final class ResolverSockets {
  private weak var loop: EventLoop?
  private var registrations: [CInt: Registration] = [:]
  /// Why a socket is not watched, so that no answer on it would be seen.
  private var failure: SystemError?
  /// Called with the socket that is ready, or -1, to read and to write.
  var onReady: ((_ readable: CInt, _ writable: CInt) -> Void)?

  init(loop: EventLoop) {
    self.loop = loop
  }

  /// What the library wants to know about a socket has changed; neither means that it is about to close it.
  func changed(_ descriptor: CInt, readable: Bool, writable: Bool) {
    guard let loop else { return }
    var interest: Readiness = []
    if readable { interest.insert(.readable) }
    if writable { interest.insert(.writable) }
    if let registration = registrations[descriptor] {
      if interest.isEmpty {
        registrations[descriptor] = nil
        loop.deregister(registration)
      } else {
        loop.change(registration, to: interest)
      }
    } else if !interest.isEmpty {
      do throws(SystemError) {
        registrations[descriptor] = try loop.register(
          descriptor, interest, handler: ResolverSocket(descriptor: descriptor, sockets: self))
      } catch {
        failure = error
      }
    }
  }

  /// Why a socket cannot be watched, since the last time that this was asked.
  func takeFailure() -> SystemError? { failure.take() }
}

/// One socket of the library.
private final class ResolverSocket: ReadinessHandler {
  private let descriptor: CInt
  private weak var sockets: ResolverSockets?

  init(descriptor: CInt, sockets: ResolverSockets) {
    self.descriptor = descriptor
    self.sockets = sockets
  }

  func ready(_ readiness: Readiness) {
    // The library learns of an error or of the end by reading.
    let readable = readiness.isDisjoint(with: [.readable, .error, .hangUp]) ? ARES_SOCKET_BAD : descriptor
    let writable = readiness.contains(.writable) ? descriptor : ARES_SOCKET_BAD
    sockets?.onReady?(readable, writable)
  }
}
