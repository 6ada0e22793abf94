import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTP2
import HTTPModel
import Metrics
import Migration
import Policies
import RPC
import Synchronization
import Tracing
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
  /// Clients that have connected and do not yet speak HTTP: before their PROXY header or the end of their TLS handshake.
  private var handshakes: [ObjectIdentifier: any PendingClient] = [:]
  var endpoints: [EndpointIdentity: EndpointSet] = [:]
  /// Retired ones at which an attempt still waits for a connection, for it has nowhere else to go.
  var leftBehind: [EndpointPool] = []
  var shadows: [ObjectIdentifier: Shadow] = [:]
  var comparison = ComparisonWorkspace()
  /// For testers' headers that chose nothing.
  var overrideLines = SparseLines(1, per: .seconds(10))
  var healthWatches: [ObjectIdentifier: HealthWatch] = [:]
  private(set) lazy var internalClient = InternalClient(worker: self)
  /// Connections to the Redis servers that limits are kept on, by their names.
  var redis: [String: RedisClient] = [:]
  /// Whether this loop asks them: whoever only looks at a configuration does not.
  private var asksRedis = false
  /// Calls and attempts that wait for something that is fetched.
  var resourceWaits = ResourceWaits()
  /// Of one loop only: fetches for all what their snapshot needs.
  private lazy var refreshers = Refreshers(worker: self)
  private let refreshesResources: Bool
  /// What this loop keeps for parts of its snapshot, by the part.
  private var locals: [ObjectIdentifier: (part: AnyObject, state: AnyObject)] = [:]
  private(set) var isDraining = false
  /// Whether upstreams are looked after while nobody asks for them; not where a request is only explained.
  var isAttending = false
  /// On the first loop: for all of them.
  lazy var healthChecker = HealthChecker(worker: self)
  /// Reused for every answer of the gateway's own making.
  let answer = Answer()
  private let accessLog = AccessLogBatch()
  /// For what clients do wrong.
  private var peerLines = SparseLines(20, per: .seconds(1))
  // Unchecked (decision 52): it hashes and compares bytes, and calls nobody who comes back.
  @exclusivity(unchecked) var latestAgent = LatestAgent()
  var requestIDs = RequestIDSource()
  var traceIDs = TraceIDSource()
  var traceExporters: [TraceExporter] = []
  /// For values that are put together; nobody keeps it.
  var scratch = ByteBuffer()
  let http2: HTTP2Workspace
  // Unchecked, as all of this file that says so (decision 52): these lists call nobody.
  /// Arrays for connections that have something to look at when the tick ends.
  @exclusivity(unchecked) var spareExchanges: [HTTP2UpstreamStream] = []
  @exclusivity(unchecked) var spareStreams: [HTTP2ClientStream] = []
  @exclusivity(unchecked) var spareIncoming: [IncomingRequest] = []
  @exclusivity(unchecked) var spareFields: [FieldBlock] = []
  @exclusivity(unchecked) var spareRequests: [UpstreamRequest] = []
  @exclusivity(unchecked) var sparePayloads: [Payload] = []
  /// Where the request lines of HTTP/2 requests are put together.
  var requestLine = HTTP2RequestLine(method: .get, isSecure: false)
  var sparePipes: [SplicePipe] = []
  var pipesLent = 0
  /// Whether the time of the drain is over.
  private var hasEndedCalls = false
  private lazy var drainTimer = Timer(loop: loop) { [unowned self] in drainTimeIsUp() }

  /// - Parameter refreshesResources: whether it is the one that fetches what snapshots need, for all loops.
  init(
    index: Int, loop: EventLoop, shared: GatewayShared, snapshot: Snapshot, refreshesResources: Bool = false
  ) {
    self.index = index
    self.refreshesResources = refreshesResources
    self.loop = loop
    http2 = HTTP2Workspace(buffers: loop.buffers)
    self.shared = shared
    plans = LoopSnapshot(snapshot: snapshot, pools: [])
    adopt(snapshot)
  }

  var metrics: GatewayMetrics { shared.metrics }
  var limits: LimitsConfiguration { plans.snapshot.configuration.limits }
  var timeouts: TimeoutsConfiguration { plans.snapshot.configuration.timeouts }
  var headLimits: HeadLimits { plans.snapshot.headLimits }

  func log(_ level: GatewayLog.Level, _ message: String) { shared.log.write(level, message) }

  /// Logs what a client did wrong, as long as there are not too many such lines.
  func logOfPeer(_ message: @autoclosure () -> String) {
    guard let leftOut = peerLines.next(at: loop.now) else { return }
    log(.info, leftOut == 0 ? message() : "\(message()); \(leftOut) such lines before it were left out")
  }

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
      let local = upstream.isGateway ? LocalServices(self, snapshot) : nil
      pools.append(UpstreamPool(configuration: upstream, state: state, sets: sets, worker: self, local: local))
    }
    let retired = endpoints.filter { !used.contains($0.key) }
    for (pool, credentials) in zip(pools, snapshot.credentials) {
      pool.credentials = credentials.map { PoolCredentials($0, worker: self) }
    }
    plans = LoopSnapshot(snapshot: snapshot, pools: pools)
    accessLog.releaseIdle()
    leftBehind.removeAll { !$0.hasWaiting }
    for identity in retired.keys { endpoints[identity] = nil }
    for set in retired.values { set.retire() }
    locals = [:]
    updateHealthWatches()
    internalClient.adopted()
    traceExporters.removeAll(where: \.isIdle)
    if asksRedis { adoptRedis(snapshot) }
    // Ends the questions that are under way, and with them calls, so that everything has to be in its place.
    let servers = snapshot.configuration.nameServers
    loop.nameServers = servers.isEmpty ? nil : servers.map(\.text).joined(separator: ",")
    if refreshesResources { refreshers.follow(snapshot.resources) }
    attendUpstreams()
  }

  /// From now on limits are kept on the servers that the snapshots name.
  func beginAskingRedis() {
    asksRedis = true
    adoptRedis(plans.snapshot)
  }

  /// What this loop keeps for a part of its snapshot; made when it is first asked for, let go with the snapshot.
  func local<State: AnyObject>(of part: AnyObject, _ make: () -> State) -> State {
    if let known = locals[ObjectIdentifier(part)]?.state as? State { return known }
    let made = make()
    // The part too: another one in its place would find what is not its own.
    locals[ObjectIdentifier(part)] = (part, made)
    return made
  }

  /// A flight for a resource has ended.
  func resourceEnded(_ resource: ObjectIdentifier) {
    for ended in resourceWaits.take(resource) { ended() }
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
    let plan = plans.snapshot.listener(listener.configured)
    let origin = ConnectionOrigin(address: peer.unmapped, port: listener.socket.address.port, plan: plan)
    guard let use = plan.proxyProtocol else { return secure(socket, from: origin, on: listener) }
    guard plan.trusts(origin.address) else {
      if use == .optional { return secure(socket, from: origin, on: listener) }
      metrics.connections.proxyHeaders.child([listener.socket.address.text, "untrusted"]).add(1, shard: index)
      logOfPeer("refused \(origin.address.host) on \(listener.socket.address.text): it is in no `trusted` range")
      return left()
    }
    do {
      let handshake = try ProxyHandshake(worker: self, listener: listener, origin: origin, socket: socket)
      handshakes[ObjectIdentifier(handshake)] = handshake
    } catch {
      log(.error, "cannot watch a connection: \(error)")
      left()
    }
  }

  /// It is known who a client is: TLS begins where the listener speaks it.
  func secure(_ socket: consuming Socket, from origin: ConnectionOrigin, on listener: ListenerState) {
    guard let security = plans.snapshot.security.listeners[listener.configured] else {
      begin(Transport(socket), from: origin, on: listener, nil)
      return
    }
    do {
      let handshake = try ClientHandshake(
        worker: self, listener: listener, security: security, socket: socket, origin: origin)
      handshakes[ObjectIdentifier(handshake)] = handshake
    } catch {
      log(.error, "cannot begin a TLS session: \(error)")
      left()
    }
  }

  /// A client's connection is open: what it asks for is read from now on.
  func begin(
    _ transport: consuming Transport, from origin: ConnectionOrigin, on listener: ListenerState,
    _ security: ListenerSecurity?
  ) {
    let hasUnread = transport.hasUnread
    do {
      let connection = try ConnectionStart(
        worker: self, gauges: ConnectionGauges(listener), origin: origin,
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

  func forget(_ handshake: any PendingClient) { handshakes[ObjectIdentifier(handshake)] = nil }

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
    internalClient.closeIdle()
    for connection in connections { connection?.drain() }
    for handshake in handshakes.values { handshake.drain() }
    updateHealthWatches()
    drainTimer.schedule(after: time)
    endIfDrained()
  }

  /// For clients to take the error that ends what ran longer than `drain`.
  private static let farewell: Duration = .seconds(1)

  /// First all that runs is answered, then, after a moment, what is still there is cut.
  private func drainTimeIsUp() {
    let left = connections.compactMap(\.self)
    if hasEndedCalls {
      if !left.isEmpty { log(.warning, "\(left.count) clients did not take their answers in time: they are cut") }
      for connection in left { connection.cut() }
      return endIfDrained()
    }
    hasEndedCalls = true
    let running = left.reduce(0) { $0 + $1.calls.count }
    if running > 0 { log(.warning, "draining took too long: \(running) calls are ended") }
    drainTimer.schedule(after: Self.farewell)
    for handshake in handshakes.values { handshake.close() }
    let error = RPCError(.unavailable, "the gateway is shutting down")
    for connection in left { connection.endCalls(with: error) }
    endIfDrained()
  }

  /// Closes what copies still wait for: when the loop has stopped nobody counts their answers.
  func closeUpstreams() {
    for shadow in shadows.values { shadow.cancel() }
    healthChecker.stop()
    internalClient.close()
    for set in endpoints.values { set.closeIdle() }
    closeRedis()
    // What is kept for parts of a snapshot may hold this object.
    locals = [:]
  }

  /// An exporter has given its last spans away.
  func tracesSent() { endIfDrained() }

  private func endIfDrained() {
    guard isDraining, freeSlots.count == connections.count, handshakes.isEmpty, finishTraces() else { return }
    drainTimer.cancel()
    accessLog.flush()
    loop.stop()
  }
}
