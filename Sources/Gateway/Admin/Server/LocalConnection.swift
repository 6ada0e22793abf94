import Bytes
import EventLoops
import HTTP1
import HTTPModel
import TransportSecurity

/// One connection of a ``LocalServer``: requests are read, answered and flushed one after another.
///
/// Nothing is read while an answer waits to be sent, so a peer cannot make it hold more than one request and what one
/// read brought behind it.
final class LocalConnection: ReadinessHandler {
  enum Phase {
    /// TLS is being agreed on.
    case handshake
    /// Waiting for a head, or within one.
    case head
    case body
    /// The answer is held back until the timer fires.
    case delayed(LocalResponse)
    /// The answer is being sent.
    case sending
    /// The last answer is sent: what still comes is thrown away, so that no reset overtakes the answer.
    case lingering
    case closed
  }

  /// How a connection waits for its client.
  struct Wait: Comparable {
    /// Whether half a request is there.
    let hasBegun: Bool
    let since: Instant

    /// After every real one.
    static let none = Wait(hasBegun: true, since: Instant(nanoseconds: .max))

    static func < (left: Self, right: Self) -> Bool {
      left.hasBegun == right.hasBegun ? left.since < right.since : right.hasBegun
    }
  }

  static let readRoom = 16 << 10
  /// How long a client may take to close after the last answer.
  static let lingerTime: Duration = .seconds(1)

  let acceptor: LocalAcceptor
  let listener: SocketAddress
  let peer: SocketAddress
  var transport: Transport
  private var registration: Registration?
  private var timer: Timer?

  var phase = Phase.head
  /// When the wait for the present request began.
  private var waitsSince = Instant.now()
  var input = ByteBuffer()
  var output = ByteBuffer()
  var parser: RequestHeadParser
  let head = RequestHead()
  var body: [UInt8] = []
  var bodyReader = BodyReader(framing: .none, limits: HeadLimits())
  let trailers = FieldBlock()
  /// Whether the present answer goes without its body.
  var isHead = false
  /// Whether the connection ends with the present answer.
  var isLast = false
  var isInputClosed = false

  /// - Parameter security: nil: without TLS.
  init(
    socket: consuming Socket, listener: SocketAddress, peer: SocketAddress, acceptor: LocalAcceptor,
    security: ServerContext?
  ) throws(TLSError) {
    if let security {
      transport = Transport(socket, try SecureSession(server: security), on: acceptor.loop)
      phase = .handshake
    } else {
      transport = Transport(socket)
    }
    self.listener = listener
    self.peer = peer
    self.acceptor = acceptor
    parser = RequestHeadParser(limits: acceptor.configuration.limits.headLimits)
  }

  /// Nil while it is being answered, and while the client takes the last answer.
  var wait: Wait? {
    switch phase {
    case .handshake, .head: Wait(hasBegun: parser.hasBegun, since: waitsSince)
    case .body: Wait(hasBegun: true, since: waitsSince)
    // Who lingers is gone within a second, and may be reading yet.
    case .delayed, .sending, .lingering, .closed: nil
    }
  }

  var limits: LocalServerLimits { acceptor.configuration.limits }

  /// - Throws: when the kernel has no room to watch one more.
  func open() throws(SystemError) {
    registration = try acceptor.loop.register(transport.descriptor, .readable, handler: self)
    let timer = Timer(loop: acceptor.loop) { [weak self] in self?.timeIsUp() }
    if case .handshake = phase { timer.schedule(after: limits.request) } else { timer.schedule(after: limits.idle) }
    self.timer = timer
  }

  func ready(_ readiness: Readiness) {
    if case .handshake = phase { return shakeHands() }
    if readiness.contains(.error) || readiness.contains(.hangUp) && !isReading { return close() }
    if isReading, !readiness.isDisjoint(with: [.readable, .hangUp]) { receive() }
    advance()
  }

  private var isReading: Bool {
    switch phase {
    case .head, .body, .lingering: !isInputClosed
    case .handshake, .delayed, .sending, .closed: false
    }
  }

  private func receive() {
    while isReading {
      switch transport.read(into: &input, room: Self.readRoom) {
      case .transferred: break
      case .wouldBlock: return
      case .closed: isInputClosed = true
      case .failed: return close()
      }
      // The end of a TLS session comes with its last bytes: nothing announces it.
      guard transport.hasUnread else { return }
    }
  }

  /// Goes on for as long as there is something to do without waiting.
  private func advance() {
    var goesOn = true
    while goesOn {
      switch phase {
      case .handshake: goesOn = false
      case .head: goesOn = readHead()
      case .body: goesOn = readBody()
      case .delayed: goesOn = false
      case .sending: goesOn = send()
      case .lingering:
        input.removeAll()
        if isInputClosed { close() }
        goesOn = false
      case .closed: return
      }
    }
    updateInterest()
  }

  func watch(_ interest: Readiness) {
    if let registration { acceptor.loop.change(registration, to: interest) }
  }

  private func updateInterest() {
    if case .handshake = phase { return }
    var interest: Readiness = []
    if isReading { interest.insert(.readable) }
    if case .sending = phase { interest.insert(.writable) }
    watch(interest)
  }

  /// - Returns: whether all is sent and there may be more to do.
  private func send() -> Bool {
    while !output.isEmpty {
      switch transport.write(from: &output) {
      case .transferred: continue
      case .wouldBlock: return false
      case .closed, .failed:
        close()
        return false
      }
    }
    if isLast {
      transport.shutdownWriting()
      phase = .lingering
      schedule(after: Self.lingerTime)
      return true
    }
    output.releaseStorage()
    if input.isEmpty { input.releaseStorage() }
    phase = .head
    waitsSince = .now()
    schedule(after: limits.idle)
    acceptor.beganToWait()
    return true
  }

  /// Sends what may be sent ahead of the answer; what does not fit now goes with it.
  func sendInterim(_ bytes: StaticString) {
    output.append(bytes)
    _ = transport.write(from: &output)
  }

  func schedule(after duration: Duration) { timer?.schedule(after: duration) }

  private func timeIsUp() {
    switch phase {
    case .handshake: close()
    case .head where !parser.hasBegun: close()
    case .head, .body: refuse(408, "the request did not come in time")
    case .delayed(let response): startSending(response)
    case .sending, .lingering: close()
    case .closed: return
    }
    advance()
  }

  func close() {
    if case .closed = phase { return }
    phase = .closed
    timer?.cancel()
    if let registration { acceptor.loop.deregister(registration) }
    registration = nil
    acceptor.release(self)
  }
}
