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
    while connections.count < configuration.limits.connections {
      switch listener.accept() {
      case .socket(let socket, let peer): adopt(socket, from: peer)
      case .wouldBlock: return
      case .outOfDescriptors: return pause()
      case .failed: return pause()
      }
    }
    updateInterest()
  }

  private func pause() {
    if let registration { loop.change(registration, to: []) }
    resting?.schedule(after: Self.rest)
  }

  private func adopt(_ socket: consuming Socket, from peer: SocketAddress) {
    guard let address = socket.localAddress,
      let connection = try? LocalConnection(
        socket: socket, listener: address, peer: peer, acceptor: self, security: configuration.security?.context),
      connection.open()
    else { return }
    connections[ObjectIdentifier(connection)] = connection
  }

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
    loop.change(registration, to: connections.count < configuration.limits.connections ? .readable : [])
  }
}
