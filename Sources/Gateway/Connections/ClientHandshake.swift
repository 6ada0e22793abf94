import Configuration
import EventLoops
import Metrics
import TransportSecurity

/// A client that has connected and not yet agreed on TLS; becomes a connection when it has, or is closed.
final class ClientHandshake: ReadinessHandler, PendingClient {
  private let worker: Worker
  private let listener: ListenerState
  private let security: ListenerSecurity
  private let origin: ConnectionOrigin
  private var transport: Transport?
  private var registration: Registration?
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  init(
    worker: Worker, listener: ListenerState, security: ListenerSecurity, socket: consuming Socket,
    origin: ConnectionOrigin
  ) throws {
    self.worker = worker
    self.listener = listener
    self.security = security
    self.origin = origin
    let descriptor = socket.descriptor
    transport = Transport(socket, try SecureSession(server: security.context), on: worker.loop)
    registration = try worker.loop.register(descriptor, [.readable], handler: self)
    timer.schedule(after: worker.timeouts.handshake)
  }

  func ready(_ readiness: Readiness) {
    guard let registration, let opening = transport?.open() else { return }
    switch opening {
    case .reads: worker.loop.change(registration, to: [.readable])
    case .writes: worker.loop.change(registration, to: [.writable])
    case .done:
      let origin = origin
      count("ok")
      guard let transport = leave() else { return }
      worker.begin(transport, from: origin, on: listener, security)
    case .failed(let error): failed(error)
    }
  }

  private func failed(_ error: TransportError) {
    switch error {
    case .system: end("closed", nil)
    case .security(let error):
      if error.isPlainHTTP { transport?.writeInTheClear(Self.plainAnswer) }
      // Many look whether there is a listener, and say nothing.
      end(error.kind == .truncated ? "closed" : error.kind.rawValue, error.kind == .truncated ? nil : error.reason)
    }
  }

  private static let plainAnswer: StaticString = """
    HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 67\r\nconnection: close\r\n\r\n\
    {"code":3,"message":"this address speaks HTTPS only","details":[]}\n
    """

  private func timeIsUp() { end("timeout", "no handshake in time") }

  private func end(_ outcome: String, _ reason: String?) {
    count(outcome)
    if let reason {
      worker.logOfPeer("no TLS with \(origin.address.host) on \(listener.socket.address.text): \(reason)")
    }
    close()
  }

  private func count(_ outcome: String) {
    worker.metrics.connections.handshakes.child([listener.socket.address.text, outcome]).add(1, shard: worker.index)
  }

  func drain() { timer.schedule(after: min(worker.timeouts.handshake, .seconds(1))) }

  func close() {
    guard leave() != nil else { return }
    worker.left()
  }

  /// Takes the transport out; nothing more happens here.
  private func leave() -> Transport? {
    timer.cancel()
    if let registration { worker.loop.deregister(registration) }
    registration = nil
    worker.forget(self)
    return transport.take()
  }
}
