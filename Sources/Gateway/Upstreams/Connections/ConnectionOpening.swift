import Bytes
import EventLoops

/// Who opens a connection: the HTTP/1.1 and the HTTP/2 connection alike.
protocol OpeningOwner: AnyObject {
  /// It can be asked. The registration is still the opening's own; the owner hands it over.
  func opened(_ transport: consuming Transport, _ registration: Registration)
  /// There will be no connection; it is over.
  func openingFailed(_ reason: String)
}

/// From a socket that is being connected to a transport that can be asked: the connection, the TLS handshake, what
/// ALPN agreed on, and the time for all of it.
final class ConnectionOpening: ReadinessHandler {
  private unowned let owner: any OpeningOwner
  private let endpoint: EndpointPool
  private let loop: EventLoop
  private var transport: Transport?
  private var registration: Registration?
  /// Whether the socket is open, and only the TLS handshake is missing.
  private var isConnected = false
  private lazy var timer = Timer(loop: loop) { [unowned self] in fail("no connection in time") }

  init(endpoint: EndpointPool, transport: consuming Transport, owner: any OpeningOwner) throws(SystemError) {
    self.endpoint = endpoint
    self.owner = owner
    loop = endpoint.worker.loop
    let descriptor = transport.descriptor
    self.transport = consume transport
    registration = try loop.register(descriptor, [.writable], handler: self)
    timer.schedule(after: endpoint.connectTimeout)
  }

  func ready(_ readiness: Readiness) {
    guard let registration else { return }
    if !isConnected {
      if let error = transport?.takeError() { return fail(error.reason) }
      isConnected = true
    }
    switch transport?.open() ?? .reads {
    case .reads: loop.change(registration, to: [.readable])
    case .writes: loop.change(registration, to: [.writable])
    case .failed(let error):
      endpoint.handshakeEnded(error)
      fail("\(error)")
    case .done:
      endpoint.handshakeEnded(nil)
      finish(registration)
    }
  }

  private func finish(_ registration: Registration) {
    // Over TLS HTTP/2 is agreed on and never guessed (RFC 9113 section 3.2).
    if endpoint.isMultiplexed, endpoint.isSecure, transport?.negotiatedProtocol != "h2" {
      return fail("it does not agree on HTTP/2 (ALPN)")
    }
    guard let transport = transport.take() else { return }
    timer.cancel()
    self.registration = nil
    endpoint.connected()
    owner.opened(transport, registration)
  }

  private func fail(_ reason: String) {
    cancel()
    endpoint.connectFailed(reason)
    owner.openingFailed(reason)
  }

  /// Nobody wants it any more.
  func cancel() {
    timer.cancel()
    if let registration { loop.deregister(registration) }
    registration = nil
    transport = nil
  }
}
