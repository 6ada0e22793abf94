import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTP2
import Metrics
import Policies
import Synchronization
import TransportSecurity

/// One event loop and all that lives on it: connections, upstream pools, shadows. Nothing of it is touched from
/// another thread; what others want of it is posted to the loop's mailbox.
final class Worker {
  let index: Int
  let loop: EventLoop
  let shared: GatewayShared
  private(set) var plans: LoopSnapshot
  let router = Router()
  private var acceptors: [ObjectIdentifier: Acceptor] = [:]
  private(set) var connections: [(any OpenConnection)?] = []
  private var freeSlots: [Int] = []
  /// Clients that have connected and do not yet speak TLS.
  private var handshakes: [ObjectIdentifier: ClientHandshake] = [:]
  private var endpoints: [EndpointIdentity: EndpointSet] = [:]
  var shadows: [ObjectIdentifier: ShadowObserver] = [:]
  private(set) var isDraining = false
  /// Whether upstreams are looked after while nobody asks for them; not where a request is only explained.
  private(set) var isAttending = false
  /// On the first loop: for all of them.
  private lazy var healthChecker = HealthChecker(worker: self)
  /// Reused for every answer of the gateway's own making.
  let answer = Answer()
  private let accessLog = AccessLogBatch()
  var requestIDs = RequestIDSource()
  let http2 = HTTP2Workspace()
  /// For bodies that fill every buffer they get; see ``lendBulkBuffer(to:)``.
  var bulkBuffers = BufferPool(bufferCapacity: Worker.bulkCapacity, limit: 2)
  var bulkLent = 0
  var spareIncoming: [IncomingRequest] = []
  var sparePipes: [SplicePipe] = []
  var pipesLent = 0
  private lazy var drainTimer = Timer(loop: loop) { [unowned self] in drainTimeIsUp() }

  init(index: Int, loop: EventLoop, shared: GatewayShared, snapshot: Snapshot) {
    self.index = index
    self.loop = loop
    self.shared = shared
    plans = LoopSnapshot(snapshot: snapshot, pools: [])
    adopt(snapshot)
  }

  var metrics: GatewayMetrics { shared.metrics }
  var limits: LimitsConfiguration { plans.snapshot.configuration.limits }
  var timeouts: TimeoutsConfiguration { plans.snapshot.configuration.timeouts }
  var headLimits: HeadLimits { plans.snapshot.headLimits }

  func log(_ level: GatewayLog.Level, _ message: String) { shared.log.write(level, message) }

  // MARK: Snapshots and listeners

  /// Follows a new snapshot from the next request on; pools of endpoints that stay are kept.
  func adopt(_ snapshot: Snapshot) {
    // The pools below read their times from the new plans.
    plans = LoopSnapshot(snapshot: snapshot, pools: [])
    var pools: [UpstreamPool] = []
    var used: Set<EndpointIdentity> = []
    for upstream in snapshot.upstreams {
      let state = shared.upstreams.state(upstream.name)
      var sets: [EndpointSet] = []
      for endpoint in upstream.endpoints {
        let security = endpoint.isSecure ? snapshot.security.upstreams[upstream.name] : nil
        let identity = EndpointIdentity(
          upstream: upstream.name, target: endpoint.target, host: endpoint.host, port: endpoint.port,
          http: upstream.http, security: security?.fingerprint ?? [])
        used.insert(identity)
        sets.append(endpointSet(identity, endpoint, upstream, state, security))
      }
      pools.append(UpstreamPool(configuration: upstream, state: state, sets: sets, worker: self))
    }
    for (identity, set) in endpoints where !used.contains(identity) {
      endpoints[identity] = nil
      set.retire()
    }
    plans = LoopSnapshot(snapshot: snapshot, pools: pools)
    attendUpstreams()
  }

  private func endpointSet(
    _ identity: EndpointIdentity, _ configuration: EndpointConfiguration, _ upstream: UpstreamConfiguration,
    _ state: UpstreamState, _ security: UpstreamSecurity?
  ) -> EndpointSet {
    if let known = endpoints[identity] {
      known.adopt(configuration, upstream)
      return known
    }
    let set = EndpointSet(
      identity: identity, configuration: configuration, upstream: upstream, state: state, security: security,
      worker: self)
    endpoints[identity] = set
    return set
  }

  // MARK: Upstreams

  /// From now on upstreams are looked after: names are asked, connections opened, endpoints checked.
  func attend() {
    shared.loops.enter(index, loop.mailbox)
    isAttending = true
    attendUpstreams()
  }

  /// The endpoints of an upstream have changed.
  func membersChanged() { attendUpstreams() }

  private func attendUpstreams() {
    guard isAttending, !isDraining else { return }
    for pool in plans.pools where pool.configuration.isAttended {
      for set in pool.sets { set.refresh() }
      pool.update()
      for member in pool.members { member.warm() }
    }
    if index == 0 { healthChecker.follow(plans) }
  }

  /// Closes an idle connection of an upstream, for another one; false when there is none.
  func closeIdleConnection(of upstream: String) -> Bool {
    endpoints.values.contains { set in
      set.identity.upstream == upstream && set.members.contains { $0.closeOneIdle() }
    }
  }

  /// There may be another connection to an upstream.
  func connectionPlaceIsFree(of upstream: String) {
    for set in endpoints.values where set.identity.upstream == upstream {
      for member in set.members { member.serveWaiting() }
    }
  }

  func open(_ listener: ListenerState) {
    guard !isDraining, acceptors[ObjectIdentifier(listener)] == nil else { return }
    let acceptor = Acceptor(listener: listener, worker: self)
    acceptors[ObjectIdentifier(listener)] = acceptor
    acceptor.listen()
  }

  /// Accepts no more on a listener; its connections go on.
  func close(_ listener: ListenerState) {
    acceptors.removeValue(forKey: ObjectIdentifier(listener))?.close()
  }

  // MARK: Connections

  func accepted(_ socket: consuming Socket, from peer: SocketAddress, on listener: ListenerState) {
    shared.connections.add(1, ordering: .relaxed)
    guard let security = plans.snapshot.security.listeners[listener.configured] else {
      begin(Transport(socket), from: peer, on: listener, nil)
      return
    }
    do {
      let handshake = try ClientHandshake(
        worker: self, listener: listener, security: security, socket: socket, remoteAddress: peer)
      handshakes[ObjectIdentifier(handshake)] = handshake
    } catch {
      log(.error, "cannot begin a TLS session: \(error)")
      left()
    }
  }

  /// A client's connection is open: what it asks for is read from now on.
  func begin(
    _ transport: consuming Transport, from peer: SocketAddress, on listener: ListenerState,
    _ security: ListenerSecurity?
  ) {
    let hasUnread = transport.hasUnread
    do {
      let connection = try ConnectionStart(
        worker: self, gauges: ConnectionGauges(listener), remoteAddress: peer,
        coveredNames: security?.checksAuthority == true ? transport.certificateNames : nil, transport: transport)
      if let slot = freeSlots.popLast() {
        connection.slot = slot
        connections[slot] = connection
      } else {
        connection.slot = connections.count
        connections.append(connection)
      }
      listener.connections.add(1, shard: index)
      // What came with the end of the handshake is not announced again.
      if hasUnread { connection.ready([.readable]) }
      if isDraining { connection.drain() }
    } catch {
      log(.error, "cannot watch a connection: \(error)")
      left()
    }
  }

  func forget(_ handshake: ClientHandshake) { handshakes[ObjectIdentifier(handshake)] = nil }

  /// A client that was accepted is gone.
  func left() {
    shared.connections.subtract(1, ordering: .relaxed)
    endIfDrained()
  }

  /// The protocol of a connection is known: another object goes on with it.
  func replace(_ start: ConnectionStart, with connection: any OpenConnection) {
    guard start.slot >= 0, connections[start.slot] === start else { return }
    connection.slot = start.slot
    connections[start.slot] = connection
    start.gauge.add(-1, shard: index)
    connection.gauge.add(1, shard: index)
  }

  func closed(_ connection: any OpenConnection) {
    guard connection.slot >= 0, connections[connection.slot] === connection else { return }
    connections[connection.slot] = nil
    freeSlots.append(connection.slot)
    connection.gauge.add(-1, shard: index)
    left()
  }

  /// Writes an access log line; it leaves the loop when the tick ends.
  func appendAccessLog(to sink: LogSink, _ write: (inout ByteBuffer) -> Void) {
    accessLog.append(to: sink, loop: loop, write)
  }

  // MARK: Draining

  /// No new connections; what runs may finish until the time is up.
  func drain(within time: Duration) {
    guard !isDraining else { return }
    for acceptor in acceptors.values { acceptor.close() }
    acceptors = [:]
    isDraining = true
    healthChecker.stop()
    for set in endpoints.values { set.closeIdle() }
    for connection in connections { connection?.drain() }
    for handshake in handshakes.values { handshake.drain() }
    drainTimer.schedule(after: time)
    endIfDrained()
  }

  private func drainTimeIsUp() {
    let left = connections.compactMap(\.self)
    if !left.isEmpty { log(.warning, "draining took too long: \(left.count) connections are cut") }
    for handshake in handshakes.values { handshake.close() }
    for connection in left { connection.cut() }
    endIfDrained()
  }

  /// Closes what copies still wait for: when the loop has stopped nobody counts their answers.
  func closeUpstreams() {
    for shadow in shadows.values { shadow.cancel() }
    healthChecker.stop()
    for set in endpoints.values { set.closeIdle() }
  }

  private func endIfDrained() {
    guard isDraining, freeSlots.count == connections.count, handshakes.isEmpty else { return }
    drainTimer.cancel()
    accessLog.flush()
    loop.stop()
  }
}
