import Bytes
import Configuration
import EventLoops
import Metrics
import ProxyProtocol

/// A client that has connected and not yet completed what is needed before its first request: it is neither idle nor
/// served.
protocol PendingClient: AnyObject {
  /// The process is to end: a client that is about to ask gets its answer, one that says nothing is not waited for.
  func drain()
  /// The process ends, or the client is given up.
  func close()
}

/// A connection of a trusted proxy until its PROXY header has come. What follows the header stays in the socket, for TLS
/// or HTTP to read.
final class ProxyHandshake: ReadinessHandler, PendingClient {
  private let worker: Worker
  private let listener: ListenerState
  private let origin: ConnectionOrigin
  private var socket: Socket?
  private var registration: Registration?
  private var bytes = ByteBuffer()
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in refuse("timeout", "no PROXY header in time") }

  init(
    worker: Worker, listener: ListenerState, origin: ConnectionOrigin, socket: consuming Socket
  ) throws(SystemError) {
    self.worker = worker
    self.listener = listener
    self.origin = origin
    let descriptor = socket.descriptor
    self.socket = consume socket
    // The end of what is sent is told apart from more of it.
    registration = try worker.loop.register(descriptor, [.readable, .peerClosed], handler: self)
    timer.schedule(after: worker.timeouts.handshake)
  }

  func ready(_ readiness: Readiness) {
    worker.lendBuffer(to: &bytes)
    defer {
      bytes.removeAll()
      worker.recycle(&bytes)
    }
    switch socket?.peek(into: &bytes, room: worker.readRoom) ?? .closed {
    case .transferred: decide(isAll: readiness.meets(.broken) || readiness.contains(.peerClosed))
    case .wouldBlock: break
    // Many look whether there is a listener, and say nothing.
    case .closed, .failed: refuse("closed", nil)
    }
  }

  private func decide(isAll: Bool) {
    switch bytes.withSpan(nil, ProxyHeader.read) {
    case .needsMore(let count):
      if isAll { return refuse("malformed", "the PROXY header is cut off") }
      // What is there already must not wake the loop again and again.
      socket?.setReadableFrom(count)
    case .absent:
      if origin.plan.proxyProtocol == .required { return refuse("absent", "it sends no PROXY header") }
      count("absent")
      goOn(from: origin)
    case .malformed(let reason): refuse("malformed", "its PROXY header is wrong: \(reason)")
    case .header(let header): accept(header)
    }
  }

  private func accept(_ header: ProxyHeader) {
    guard case .transferred(header.length) = socket?.discard(header.length) ?? .closed else {
      return refuse("closed", nil)
    }
    switch header.origin {
    case .proxy:
      count("local")
      goOn(from: origin)
    case .client(let source, let destination):
      guard let address = SocketAddress(bytes: source.address, port: source.port) else {
        return refuse("malformed", "its PROXY header has no address")
      }
      count("ok")
      goOn(from: ConnectionOrigin(address: address.unmapped, port: destination.port, plan: origin.plan))
    }
  }

  private func goOn(from origin: ConnectionOrigin) {
    guard let socket = leave() else { return }
    socket.setReadableFrom(1)
    worker.secure(socket, from: origin, on: listener)
  }

  private func refuse(_ outcome: String, _ reason: String?) {
    count(outcome)
    if let reason {
      worker.logOfPeer("refused \(origin.address.host) on \(listener.socket.address.text): \(reason)")
    }
    close()
  }

  private func count(_ outcome: String) {
    worker.metrics.connections.proxyHeaders.child([listener.socket.address.text, outcome]).add(1, shard: worker.index)
  }

  func drain() { timer.schedule(after: min(worker.timeouts.handshake, .seconds(1))) }

  func close() {
    guard leave() != nil else { return }
    worker.left()
  }

  /// Takes the socket out; nothing more happens here.
  private func leave() -> Socket? {
    timer.cancel()
    if let registration { worker.loop.deregister(registration) }
    registration = nil
    worker.forget(self)
    return socket.take()
  }
}
