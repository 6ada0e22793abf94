import EventLoops

/// Takes the connections of a ``LocalServer`` and holds them while they last.
final class LocalAcceptor: ReadinessHandler {
  /// How long accepting rests when the process has no descriptors left.
  private static let rest: Duration = .milliseconds(100)

  let loop: EventLoop
  let configuration: LocalServerConfiguration
  private let listener: ListeningSocket
  private var registration: Registration?
  private var connections: [ObjectIdentifier: LocalConnection] = [:]
  private var resting: Timer?
  private var hasComplained = false

  init(loop: EventLoop, listener: ListeningSocket, configuration: LocalServerConfiguration) {
    self.loop = loop
    self.listener = listener
    self.configuration = configuration
  }

  func open() throws(SystemError) {
    registration = try loop.register(listener.descriptor, .readable, handler: self)
    resting = Timer(loop: loop) { [weak self] in self?.updateInterest() }
  }

  func ready(_ readiness: Readiness) {
    // Where there is no room, one is made for one: this is called again for the next.
    if isFull, let waiting = longestWaiting { waiting.close() }
    while !isFull {
      switch listener.accept() {
      case .socket(let socket, let peer): adopt(socket, from: peer)
      case .wouldBlock: return
      case .outOfDescriptors:
        complain("connections wait: the process has no descriptors left")
        return pause()
      case .failed(let error):
        complain("a connection cannot be accepted: \(error)")
        return pause()
      }
    }
    updateInterest()
  }

  private func pause() {
    if let registration { loop.change(registration, to: []) }
    resting?.schedule(after: Self.rest)
  }

  private func adopt(_ socket: consuming Socket, from peer: SocketAddress) {
    // Without an address it is gone already.
    guard let address = socket.localAddress else { return }
    do {
      let connection = try LocalConnection(
        socket: socket, listener: address, peer: peer, acceptor: self, security: configuration.security?.context)
      try connection.open()
      connections[ObjectIdentifier(connection)] = connection
      hasComplained = false
    } catch {
      complain("a connection of \(peer.text) is closed: \(error)")
    }
  }

  /// Once, until a connection could be taken again.
  private func complain(_ message: String) {
    if !hasComplained { configuration.failed("\(configuration.name): \(message)") }
    hasComplained = true
  }

  private var isFull: Bool { connections.count >= configuration.limits.connections }

  /// The connection that can go with the least harm: strangers who hold all places must not keep an operator, or the
  /// probes of a scheduler, from asking. Those without a request come before those with half of one.
  private var longestWaiting: LocalConnection? {
    var found: (connection: LocalConnection, wait: LocalConnection.Wait)?
    for connection in connections.values {
      guard let wait = connection.wait, wait < found?.wait ?? .none else { continue }
      found = (connection, wait)
    }
    return found?.connection
  }

  /// A connection waits for its client now.
  func beganToWait() { if isFull { updateInterest() } }

  /// Lets a connection go that is over.
  func release(_ connection: LocalConnection) {
    connections[ObjectIdentifier(connection)] = nil
    updateInterest()
  }

  /// Ends all connections, sent or not.
  func closeAll() {
    for connection in Array(connections.values) { connection.close() }
  }

  private func updateInterest() {
    guard let registration, resting?.isScheduled != true else { return }
    loop.change(registration, to: !isFull || longestWaiting != nil ? .readable : [])
  }
}
