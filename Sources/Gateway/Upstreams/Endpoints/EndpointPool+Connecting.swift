import Bytes
import Configuration
import EventLoops
import HTTP2
import Metrics
import Policies
import TransportSecurity

/// New connections: for an attempt, or before one needs it.
extension EndpointPool {
  /// Opens a connection for an attempt, or none for nobody; a place for it is taken.
  func connect(_ attempt: Attempt?) {
    do {
      if isMultiplexed { try connectShared(attempt) } else { try connectOwn(attempt) }
    } catch {
      upstream.connections.giveBack()
      // What this process lacks says nothing of the endpoint, and another one would not get it either.
      let isOurs = (error as? SystemError)?.isOutOfDescriptors == true
      if !isOurs { connectFailed("\(error)") }
      attempt?.connectionFailed(
        nil, UpstreamFailure(kind: isOurs ? .overloaded : .connect, reason: "\(name): \(error)"))
    }
  }

  private func connectOwn(_ attempt: Attempt?) throws {
    let connection = try UpstreamConnection(
      endpoint: self, worker: worker, transport: try transport(), attempt: attempt)
    open[ObjectIdentifier(connection)] = connection
    counters.active.add(1)
    attempt?.assign(connection)
  }

  private func connectShared(_ attempt: Attempt?) throws {
    for old in shared { old.closeIfWornOut() }
    guard let session = HTTP2Session(role: .client, settings: worker.http2Settings, workspace: worker.http2) else {
      throw SystemError(call: "nghttp2_session_client_new", code: 12)
    }
    let connection = try HTTP2UpstreamConnection(
      endpoint: self, worker: worker, session: session, transport: try transport())
    shared.append(connection)
    counters.idle.add(1)
    if let attempt { connection.carry(attempt) }
  }

  private func transport() throws -> Transport {
    let socket: Socket
    switch server.place {
    case .address(let address): socket = try Socket.connect(to: address)
    case .unixSocket(let path): socket = try Socket.connect(toPath: path)
    }
    // The last descriptors are for those who look after the process. The code is EMFILE.
    guard worker.shared.descriptors.allows(upstream: socket.descriptor) else {
      throw SystemError(call: "socket", code: 24)
    }
    guard let security else { return Transport(socket) }
    let session = try SecureSession(client: security.context, name: security.serverName ?? server.host)
    return Transport(socket, session, on: worker.loop)
  }

  /// A TLS handshake has ended.
  func handshakeEnded(_ error: TransportError?) {
    guard security != nil else { return }
    let outcome: String
    switch error {
    case nil: outcome = "ok"
    case .security(let error): outcome = error.kind.rawValue
    case .system: outcome = "closed"
    }
    worker.metrics.upstreams.handshakes.child([identity.upstream, outcome]).add(1, shard: worker.index)
  }

  /// A connection was opened.
  func connected() { health.connected() }

  /// A connection could not be opened: others are preferred for a while, and the name is asked again.
  func connectFailed(_ reason: String) {
    counters.connectFailures.add(1, shard: worker.index)
    health.connectFailed(shown(.connect, reason), at: worker.loop.now.nanoseconds)
    origin?.distrust()
  }

  // MARK: Before they are needed

  private static let warmPause = Duration.seconds(1)

  /// Opens connections up to `prewarm`.
  func warm() {
    guard !isRetired, !worker.isDraining, worker.isAttending else { return }
    let wanted = isMultiplexed ? Swift.min(settings.prewarm, 8) : settings.prewarm
    while connections < Swift.min(wanted, settings.maxConnections) {
      let before = connections
      guard upstream.connections.take(limit: settings.limits.connections) else { return }
      connect(nil)
      // Refused at once: the timer tries again.
      if connections == before { return warmLater() }
    }
  }

  /// Connections that end are opened anew, after a pause: an endpoint that closes them at once is not to be stormed.
  func warmLater() {
    guard settings.prewarm > 0, connections < settings.prewarm, !isRetired, !worker.isDraining, worker.isAttending,
      !warmTimer.isScheduled
    else { return }
    warmTimer.schedule(after: Self.warmPause)
  }

  /// Whether an idle connection stays although nobody has used it for long.
  var keepsIdle: Bool { connections <= settings.prewarm && !isRetired }
}
