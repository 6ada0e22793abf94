import Bytes
import Configuration
import EventLoops
import HTTP2
import Metrics
import RPC
import TransportSecurity

/// A connection of a client until it is known what is spoken on it: over TLS the handshake has agreed on it (ALPN), else
/// the first bytes tell HTTP/2 (its preface) from HTTP/1.1. Then another object goes on with the same transport,
/// registration and bytes.
final class ConnectionStart: ReadinessHandler, OpenConnection {
  let worker: Worker
  let gauges: ConnectionGauges
  let origin: ConnectionOrigin
  /// The names of the certificate that the client was shown, where they are checked.
  let coveredNames: CertificateNames?
  /// By the client's certificate; nil without one.
  let identity: ClientIdentity?
  let openedAt: Instant
  var slot = -1
  var gauge: Gauge { gauges.http1 }
  var calls: [Call] { [] }
  var bufferCapacity: Int { input.capacity }
  private var transport: Transport?
  private var registration: Registration?
  private var input = ByteBuffer()
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in close() }

  init(
    worker: Worker, gauges: ConnectionGauges, origin: ConnectionOrigin, coveredNames: CertificateNames?,
    transport: consuming Transport
  ) throws(SystemError) {
    self.worker = worker
    self.gauges = gauges
    self.origin = origin
    self.coveredNames = coveredNames
    identity = transport.clientIdentity
    openedAt = worker.loop.now
    let descriptor = transport.descriptor
    self.transport = consume transport
    registration = try worker.loop.register(descriptor, [.readable], handler: self)
    timer.schedule(after: worker.timeouts.idle)
  }

  func ready(_ readiness: Readiness) { receive() }

  private func receive() {
    worker.lendBuffer(to: &input)
    switch transport?.read(into: &input, room: worker.readRoom) ?? .closed {
    case .transferred: decide()
    case .wouldBlock: worker.recycle(&input)
    case .closed, .failed: close()
    }
  }

  private func decide() {
    switch transport?.negotiatedProtocol {
    case "h2": return becomeHTTP2()
    case "http/1.1": return becomeHTTP1()
    default: break
    }
    switch input.withSpan(nil, Preface.match) {
    case .http2: becomeHTTP2()
    case .other: becomeHTTP1()
    case .undecided: timer.schedule(after: worker.timeouts.requestHead)
    }
  }

  private func becomeHTTP1() {
    guard let registration, let transport = transport.take() else { return }
    self.registration = nil
    timer.cancel()
    var bytes = ByteBuffer()
    swap(&bytes, &input)
    let connection = ClientConnection(self, transport: transport, registration: registration, input: bytes)
    worker.loop.handOver(registration, to: connection)
    worker.replace(self, with: connection)
    connection.process()
  }

  private func becomeHTTP2() {
    guard let registration, let transport = transport.take() else { return }
    self.registration = nil
    timer.cancel()
    var bytes = ByteBuffer()
    swap(&bytes, &input)
    guard let connection = HTTP2ClientConnection(self, transport: transport, registration: registration) else {
      worker.log(.error, "no memory for an HTTP/2 connection")
      worker.loop.deregister(registration)
      worker.discard(&bytes)
      worker.closed(self)
      return
    }
    worker.replace(self, with: connection)
    connection.begin(bytes)
  }

  private func close() {
    guard let registration else { return }
    timer.cancel()
    worker.loop.deregister(registration)
    self.registration = nil
    transport = nil
    worker.discard(&input)
    worker.closed(self)
  }

  func endCalls(with error: RPCError) { close() }

  func cut() { close() }

  func drain() {
    // A request that the kernel has already is not to be lost.
    receive()
    guard registration == nil, slot >= 0 else { return close() }
    // Whoever goes on with it is in its place now.
    if let successor = worker.connections[slot], successor !== self { successor.drain() }
  }
}
