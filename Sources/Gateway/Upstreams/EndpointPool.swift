import Bytes
import Configuration
import EventLoops
import HTTP2
import Metrics
import TransportSecurity

/// What makes an endpoint the same after a reload.
struct EndpointIdentity: Hashable {
  var upstream: String
  var host: String
  var port: UInt16
  var http: UpstreamConfiguration.HTTPVersion
  /// Of its TLS; empty without.
  var security: [UInt8] = []
}

/// The connections of one loop to one endpoint, the attempts that wait for one, and the endpoint's addresses.
final class EndpointPool {
  let identity: EndpointIdentity
  let name: String
  let authority: ByteBuffer
  /// Nil: without TLS.
  private let security: UpstreamSecurity?
  unowned let worker: Worker
  private(set) var connectTimeout: Duration
  private var maxIdle: Int
  private var maxConnections: Int
  private let isMultiplexed: Bool
  private let metrics: UpstreamMetrics

  /// Set when a reload has taken the endpoint out: its connections are not kept.
  var isRetired = false
  private var idle: [UpstreamConnection] = []
  private var open: [ObjectIdentifier: UpstreamConnection] = [:]
  /// The connections of an HTTP/2 endpoint, each with many exchanges.
  private var shared: [HTTP2UpstreamConnection] = []
  private var waiting: [Attempt] = []

  private var addresses: [SocketAddress] = []
  private var nextAddress = 0
  private var addressesExpire = Instant(nanoseconds: 0)
  private var isResolving = false
  private var resolving: [Attempt] = []
  /// How many attempts may wait for a free connection.
  private static let maximumWaiting = 1024

  init(
    identity: EndpointIdentity, authority: String, upstream: UpstreamConfiguration, security: UpstreamSecurity?,
    worker: Worker, metrics: UpstreamMetrics
  ) {
    self.identity = identity
    self.security = security
    self.worker = worker
    self.metrics = metrics
    name = "\(identity.upstream) (\(identity.host):\(identity.port))"
    self.authority = ByteBuffer(authority.utf8)
    connectTimeout = upstream.connectTimeout ?? worker.timeouts.connect
    maxIdle = upstream.maxIdleConnections
    maxConnections = upstream.maxConnections
    isMultiplexed = upstream.http == .two
    if let literal = SocketAddress(host: identity.host, port: identity.port) {
      addresses = [literal]
      addressesExpire = Instant(nanoseconds: .max)
    }
  }

  /// Takes over what a reload changed.
  func adopt(_ upstream: UpstreamConfiguration) {
    connectTimeout = upstream.connectTimeout ?? worker.timeouts.connect
    maxIdle = upstream.maxIdleConnections
    maxConnections = upstream.maxConnections
  }

  /// Whether it is spoken to over TLS.
  var isSecure: Bool { security != nil }

  private var connections: Int { open.count + shared.count }

  func serve(_ attempt: Attempt, onFreshConnection: Bool) {
    if isMultiplexed, !onFreshConnection, let connection = shared.first(where: \.hasRoom) {
      connection.carry(attempt)
      return
    }
    if !onFreshConnection, let connection = idle.popLast() {
      metrics.idle.add(-1)
      metrics.active.add(1)
      connection.carry(attempt)
      return
    }
    guard connections < maxConnections else {
      wait(attempt)
      return
    }
    if worker.loop.now < addressesExpire, !addresses.isEmpty {
      connect(attempt)
    } else {
      resolve(attempt)
    }
  }

  private func wait(_ attempt: Attempt) {
    guard waiting.count < Self.maximumWaiting else {
      attempt.connectionFailed(nil, UpstreamFailure(kind: .overloaded, reason: "\(name): too many waiting"))
      return
    }
    waiting.append(attempt)
  }

  /// Serves all that there is room for: who cannot be connected closes nothing that would wake the next one.
  private func serveWaiting() {
    while !waiting.isEmpty, connections + resolving.count < maxConnections {
      serve(waiting.removeFirst(), onFreshConnection: false)
    }
    if isMultiplexed { roomAppeared() }
  }

  /// Forgets an attempt that has no connection yet.
  func forget(_ attempt: Attempt) {
    waiting.removeAll { $0 === attempt }
    resolving.removeAll { $0 === attempt }
  }

  private func connect(_ attempt: Attempt) {
    if isMultiplexed { return connectShared(attempt) }
    nextAddress = (nextAddress + 1) % addresses.count
    do {
      let connection = try UpstreamConnection(
        endpoint: self, worker: worker, transport: try transport(to: addresses[nextAddress]), attempt: attempt)
      open[ObjectIdentifier(connection)] = connection
      metrics.active.add(1)
      attempt.assign(connection)
    } catch {
      connectFailed()
      attempt.connectionFailed(nil, UpstreamFailure(kind: .connect, reason: "\(name): \(error)"))
    }
  }

  private func transport(to address: SocketAddress) throws -> Transport {
    guard let security else { return Transport(try Socket.connect(to: address)) }
    let session = try SecureSession(client: security.context, name: security.serverName ?? identity.host)
    return Transport(try Socket.connect(to: address), session, on: worker.loop)
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
    worker.metrics.upstreamHandshakes.child([identity.upstream, outcome]).add(1, shard: worker.index)
  }

  private func connectShared(_ attempt: Attempt) {
    // Others that waited for the same name may have opened one.
    if let connection = shared.first(where: { $0.state == .connecting && $0.hasRoom }) {
      connection.carry(attempt)
      return
    }
    nextAddress = (nextAddress + 1) % addresses.count
    guard let session = HTTP2Session(role: .client, settings: worker.http2Settings, workspace: worker.http2) else {
      attempt.connectionFailed(nil, UpstreamFailure(kind: .overloaded, reason: "\(name): no memory"))
      return
    }
    do {
      let connection = try HTTP2UpstreamConnection(
        endpoint: self, worker: worker, session: session, transport: try transport(to: addresses[nextAddress]))
      shared.append(connection)
      metrics.idle.add(1)
      connection.carry(attempt)
    } catch {
      connectFailed()
      attempt.connectionFailed(nil, UpstreamFailure(kind: .connect, reason: "\(name): \(error)"))
    }
  }

  // MARK: Names

  private func resolve(_ attempt: Attempt) {
    resolving.append(attempt)
    guard !isResolving else { return }
    isResolving = true
    worker.loop.resolver.resolve(host: identity.host, port: identity.port) { [self] result in
      resolved(result)
    }
  }

  private func resolved(_ result: Result<(addresses: [SocketAddress], timeToLive: Duration), ResolverError>) {
    isResolving = false
    let attempts = resolving
    resolving = []
    var fault = "no address"
    switch result {
    case .success(let answer) where !answer.addresses.isEmpty:
      addresses = answer.addresses
      nextAddress = 0
      addressesExpire = worker.loop.now + Swift.max(answer.timeToLive, .seconds(1))
    case .success: break
    case .failure(let error): fault = "\(error)"
    }
    for attempt in attempts where !attempt.isOver {
      // An old address is better than none while the name server is away.
      if addresses.isEmpty {
        attempt.connectionFailed(nil, UpstreamFailure(kind: .resolve, reason: "\(name): \(fault)"))
      } else if isMultiplexed, let connection = shared.first(where: \.hasRoom) {
        connection.carry(attempt)
      } else if connections < maxConnections {
        connect(attempt)
      } else {
        wait(attempt)
      }
    }
    serveWaiting()
  }

  /// A connection could not be opened: the name is asked again before the next one.
  func connectFailed() {
    metrics.connectFailures.add(1, shard: worker.index)
    if SocketAddress(host: identity.host, port: identity.port) == nil {
      addressesExpire = Instant(nanoseconds: 0)
    }
  }

  // MARK: From the connections

  func becameIdle(_ connection: UpstreamConnection) {
    if !waiting.isEmpty {
      connection.carry(waiting.removeFirst())
      return
    }
    metrics.active.add(-1)
    guard idle.count < maxIdle, !isRetired, !worker.isDraining else {
      metrics.active.add(1)
      connection.closeSurplus()
      return
    }
    metrics.idle.add(1)
    idle.append(connection)
  }

  func closed(_ connection: UpstreamConnection, wasIdle: Bool) {
    guard open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    if wasIdle, let index = idle.firstIndex(where: { $0 === connection }) {
      idle.remove(at: index)
      metrics.idle.add(-1)
    } else {
      metrics.active.add(-1)
    }
    serveWaiting()
  }

  // MARK: From shared connections

  /// The connection that an attempt was to get takes fewer than wait for it.
  func serveAgain(_ attempt: Attempt) { serve(attempt, onFreshConnection: false) }

  /// A shared connection got its first exchange, or lost its last.
  func countBusy(_ change: Int) {
    metrics.active.add(change)
    metrics.idle.add(-change)
  }

  /// A shared connection may take more, or will take none any more: attempts that wait look again.
  func roomAppeared() {
    while !waiting.isEmpty, let connection = shared.first(where: \.hasRoom) {
      connection.carry(waiting.removeFirst())
    }
  }

  func closed(_ connection: HTTP2UpstreamConnection, wasIdle: Bool) {
    guard let index = shared.firstIndex(where: { $0 === connection }) else { return }
    shared.remove(at: index)
    if wasIdle { metrics.idle.add(-1) } else { metrics.active.add(-1) }
    serveWaiting()
  }

  /// Closes what is idle; what runs is closed when it ends.
  func closeIdle() {
    for connection in idle { connection.close() }
    for connection in shared { connection.closeIfIdle() }
  }
}
