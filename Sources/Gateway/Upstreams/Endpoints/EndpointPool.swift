import Bytes
import Configuration
import EventLoops
import HTTP2
import Metrics
import Policies
import TransportSecurity

/// The connections of one loop to one endpoint, and the attempts that wait for one.
///
/// An endpoint is one address: of a name with several each is an endpoint of its own.
final class EndpointPool {
  let identity: EndpointIdentity
  let server: EndpointServer
  /// For logs.
  let name: String
  /// The address alone; nil where it is a secret.
  let place: String?
  let authority: ByteBuffer
  /// How the endpoint does, for all loops.
  let health: EndpointHealth
  let upstream: UpstreamState
  /// Of ``Balancer``: the same in every process.
  let seed: UInt64
  /// Nil: without TLS.
  let security: UpstreamSecurity?
  unowned let worker: Worker
  /// Whose endpoint it is; asks for the addresses again when this one cannot be reached.
  weak var origin: EndpointSet?
  private(set) var settings: UpstreamConfiguration
  private(set) var weight: Int
  private(set) var zone: String
  private let isSecret: Bool
  let isMultiplexed: Bool
  let counters: UpstreamCounters

  /// Set when a reload or a name has taken the endpoint out: its connections are not kept.
  private(set) var isRetired = false
  // Unchecked, as all of this file that says so (decision 52): the lists are not gone through where they stand, and
  // what is taken out is still held.
  @exclusivity(unchecked) var idle: [UpstreamConnection] = []
  var open: [ObjectIdentifier: UpstreamConnection] = [:]
  /// The connections of an HTTP/2 endpoint, each with many exchanges.
  var shared: [HTTP2UpstreamConnection] = []
  @exclusivity(unchecked) private var waiting: [Attempt] = []
  lazy var warmTimer = Timer(loop: worker.loop) { [weak self] in self?.warm() }

  /// How many attempts may wait for a free connection.
  private static let maximumWaiting = 1024

  init(
    identity: EndpointIdentity, server: EndpointServer, configuration: EndpointConfiguration,
    upstream: UpstreamConfiguration, state: UpstreamState, security: UpstreamSecurity?, worker: Worker,
    counters: UpstreamCounters
  ) {
    self.identity = identity
    self.server = server
    self.security = security
    self.worker = worker
    self.counters = counters
    self.upstream = state
    settings = upstream
    isSecret = configuration.isSecret
    weight = server.weight
    zone = configuration.zone
    isMultiplexed = upstream.http == .two
    authority = ByteBuffer(server.authority.utf8)
    let place = server.place.text
    self.place = isSecret ? nil : place
    name = isSecret ? "\(identity.upstream) (hidden)" : "\(identity.upstream) (\(place))"
    // The same address may stand under two names, with a certificate for each.
    let key = "\(server.authority) \(place) \(upstream.http.rawValue)"
    health = state.endpoints.join(key)
    seed = StableHash(key).value
    adopt(upstream, configuration, server)
  }

  /// Takes over what a reload or a new answer of the name server changed.
  func adopt(_ upstream: UpstreamConfiguration, _ configuration: EndpointConfiguration, _ server: EndpointServer) {
    settings = upstream
    weight = Swift.max(1, server.weight &* configuration.weight)
    zone = configuration.zone
    health.describe(
      EndpointFacts(
        endpoint: isSecret ? "(hidden)" : configuration.text, address: isSecret ? "(hidden)" : server.place.text,
        weight: weight, priority: server.priority, zone: zone))
  }

  /// Whether it is spoken to over TLS.
  var isSecure: Bool { security != nil }
  var connectTimeout: Duration { settings.connectTimeout ?? worker.timeouts.connect }
  var connections: Int { open.count + shared.count }

  /// A reason as it may be shown.
  func shown(_ kind: UpstreamFailure.Kind, _ reason: String) -> String { isSecret ? kind.label : reason }

  // MARK: Serving

  func serve(_ attempt: Attempt, onFreshConnection: Bool) {
    if isMultiplexed, !onFreshConnection, let connection = shared.first(where: \.hasRoom) {
      connection.carry(attempt)
      return
    }
    if !onFreshConnection, let connection = takeIdle() {
      connection.carry(attempt)
      return
    }
    if connections < settings.maxConnections, takePlace() {
      connect(attempt)
    } else if isMultiplexed, !onFreshConnection, let connection = shared.first(where: \.isLastResort) {
      connection.carry(attempt)
    } else {
      wait(attempt)
    }
  }

  /// A check is served whatever the limits: that an endpoint has much to do does not make it ill.
  func probe(_ attempt: Attempt) {
    if isMultiplexed, let connection = shared.first(where: \.hasRoom) {
      connection.carry(attempt)
    } else if let connection = takeIdle() {
      connection.carry(attempt)
    } else {
      _ = upstream.connections.take(limit: nil)
      connect(attempt)
    }
  }

  /// The idle connection that was used last, if it may be used again.
  private func takeIdle() -> UpstreamConnection? {
    while let connection = idle.popLast() {
      counters.idle.add(-1)
      counters.active.add(1)
      if !connection.isWornOut { return connection }
      connection.closeSurplus()
    }
    return nil
  }

  private func wait(_ attempt: Attempt) {
    guard waiting.count < Self.maximumWaiting, upstream.pending.take(limit: settings.limits.pending ?? .max) else {
      worker.metrics.upstreams.overflows.child([identity.upstream, "pending"]).add(1, shard: worker.index)
      attempt.connectionFailed(nil, UpstreamFailure(kind: .overloaded, reason: "\(name): too many waiting"))
      return
    }
    waiting.append(attempt)
    // No set of the present snapshot leads here any more.
    if isRetired, !worker.leftBehind.contains(where: { $0 === self }) { worker.leftBehind.append(self) }
    if connections < settings.maxConnections { askForPlace() }
  }

  /// The next one that waits for a connection.
  func takeWaiting() -> Attempt? {
    guard !waiting.isEmpty else { return nil }
    upstream.pending.giveBack()
    return waiting.removeFirst()
  }

  /// Serves all that there is room for: who cannot be connected closes nothing that would wake the next one.
  func serveWaiting() {
    while !waiting.isEmpty, connections < settings.maxConnections {
      guard takePlace() else {
        askForPlace()
        break
      }
      if let attempt = takeWaiting() { connect(attempt) } else { upstream.connections.giveBack() }
    }
    if isMultiplexed { roomAppeared() }
  }

  /// Forgets an attempt that has no connection yet.
  func forget(_ attempt: Attempt) {
    guard let index = waiting.firstIndex(where: { $0 === attempt }) else { return }
    waiting.remove(at: index)
    upstream.pending.giveBack()
  }

  // MARK: Places of the whole process

  private func takePlace() -> Bool {
    if upstream.connections.take(limit: settings.limits.connections) { return true }
    // One of our own that is idle, at another endpoint, makes room.
    return worker.closeIdleConnection(of: identity.upstream)
      && upstream.connections.take(limit: settings.limits.connections)
  }

  private func askForPlace() {
    let (name, index) = (identity.upstream, worker.index)
    let mailbox = worker.loop.mailbox
    upstream.connections.wait(loop: index, limit: settings.limits.connections) {
      mailbox.post { loop in
        if let worker = loop.resident as? Worker { worker.connectionPlaceIsFree(of: name) }
      }
    }
    worker.shared.loops.post(except: index) { _ = $0.closeIdleConnection(of: name) }
  }

  /// Closes an idle connection; false when there is none.
  func closeOneIdle() -> Bool {
    if let connection = idle.first {
      connection.close()
      return true
    }
    if let connection = shared.first(where: \.isIdle) {
      connection.closeIfIdle()
      return true
    }
    return false
  }

  // MARK: From the connections

  func becameIdle(_ connection: UpstreamConnection) {
    if !connection.isWornOut, let attempt = takeWaiting() {
      connection.carry(attempt)
      return
    }
    guard idle.count < settings.maxIdleConnections, !isRetired, !worker.isDraining, !connection.isWornOut,
      !upstream.connections.isWaitedFor
    else {
      connection.closeSurplus()
      return
    }
    counters.active.add(-1)
    counters.idle.add(1)
    idle.append(connection)
  }

  func closed(_ connection: UpstreamConnection, wasIdle: Bool) {
    guard open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    if wasIdle, let index = idle.firstIndex(where: { $0 === connection }) {
      idle.remove(at: index)
      counters.idle.add(-1)
    } else {
      counters.active.add(-1)
    }
    connectionIsGone()
  }

  private func connectionIsGone() {
    upstream.connections.giveBack()
    serveWaiting()
    warmLater()
  }

  // MARK: From shared connections

  /// The connection that an attempt was to get takes fewer than wait for it.
  func serveAgain(_ attempt: Attempt) { serve(attempt, onFreshConnection: false) }

  /// A shared connection got its first exchange, or lost its last.
  func countBusy(_ change: Int) {
    counters.active.add(change)
    counters.idle.add(-change)
  }

  /// A shared connection may take more, or will take none any more: attempts that wait look again.
  func roomAppeared() {
    while !waiting.isEmpty, let connection = shared.first(where: \.hasRoom), let attempt = takeWaiting() {
      connection.carry(attempt)
    }
  }

  func closed(_ connection: HTTP2UpstreamConnection, wasIdle: Bool) {
    guard let index = shared.firstIndex(where: { $0 === connection }) else { return }
    shared.remove(at: index)
    if wasIdle { counters.idle.add(-1) } else { counters.active.add(-1) }
    connectionIsGone()
  }

  // MARK: Ending

  /// The endpoint is not one of its upstream's any more; what runs is closed when it ends.
  func retire() {
    guard !isRetired else { return }
    isRetired = true
    upstream.endpoints.leave(health)
    closeIdle()
  }

  /// Sends those who wait here to where their upstream is now. Who finds nothing else waits here again.
  func handOver() {
    let attempts = waiting
    waiting = []
    for attempt in attempts {
      upstream.pending.giveBack()
      attempt.pool.lookAgain()
      attempt.pool.serve(attempt)
    }
  }

  var hasWaiting: Bool { !waiting.isEmpty }

  func closeIdle() {
    warmTimer.cancel()
    for connection in idle { connection.close() }
    for connection in shared { connection.closeIfIdle() }
  }
}
