import Configuration
import Diagnostics
import Dispatch
import EventLoops
import Metrics
import Synchronization

/// The gateway of this process while it runs: publishes snapshots to the workers, opens and closes listeners, drains.
///
/// Safe from any thread; changes go one after another.
final class RunningGateway: Sendable {
  struct State {
    var snapshot: Snapshot
    var listeners: [SocketAddressConfiguration: ListenerState]
    var workers: [WorkerThread] = []
    var servers: [LocalServer] = []
    /// Nil: the admin endpoint speaks without TLS.
    var adminSecurity: LocalServerSecurity?
    /// Of the last configuration that has the admin endpoint where it listens. One that wants it elsewhere, or not at all,
    /// may have none since it is for another place, and that must not open this one, nor bring back what was revoked.
    var adminToken: String?
    var audit: AuditLog?
    /// Nil: what is set at run time is not kept.
    var keeper: StageKeeper?
    var sharing: StageSharing?
    var watcher: FileWatcher?
    /// Files that the configuration and the schema are made of, as they were read last.
    var settingsFiles: Set<String> = []
    /// Whether what was read last is not what serves.
    var isReloadPending = false
    var status: ConfigurationStatus
    /// Whether one is to begin that has not begun.
    /// Of those that the admin endpoint asked for.
    var reloadsWaiting = 0
    var isReloadAsked = false
    var isDraining = false
  }

  let configPath: String
  /// What it began with: of some keys that is what counts until it ends.
  let started: GatewayConfiguration
  /// Of refused requests for a reload, which anybody may send, not each is an event.
  let refusals = RefusalPause()
  let shared: GatewayShared
  let state: Mutex<State>
  /// One change at a time: a reload takes a while, and reads must not wait for it.
  let changes = DispatchQueue(label: "changes")
  /// Where reloads wait for each other, so that neither signals nor the admin endpoint do.
  let reloads = DispatchQueue(label: "reloads")
  let trail = AuditTrail()
  private let ended = DispatchGroup()

  /// Run after those of the configuration, in every snapshot.
  let interceptors: [any Interceptor]

  private init(
    configPath: String, started: GatewayConfiguration, shared: GatewayShared, interceptors: [any Interceptor],
    state: consuming sending State
  ) {
    self.configPath = configPath
    self.started = started
    self.shared = shared
    self.interceptors = interceptors
    self.state = Mutex(state)
  }

  // MARK: Starting

  /// - Parameters:
  ///   - interceptors: run after those of the configuration.
  ///   - logTarget: where the process's own log goes.
  static func start(
    configPath: String, interceptors: [any Interceptor] = [], logTarget: LogSink.Target = .standardError
  ) -> Result<RunningGateway, ProgramFailure> {
    let (configuration, faults) = ConfigurationLoader.load(path: configPath)
    guard let configuration else { return .failure(.configuration(faults)) }
    do throws(SystemError) {
      let workers = configuration.workers ?? Processors.available
      let metrics = GatewayMetrics(shards: workers)
      let log = GatewayLog(sink: try LogSink(logTarget), format: configuration.log)
      let shared = GatewayShared(metrics: metrics, log: log)
      let (snapshot, more) = compile(configuration, shared, interceptors, generation: 1)
      let diagnostics = faults + more
      guard let snapshot else { return .failure(.configuration(diagnostics)) }
      for diagnostic in diagnostics { log.write(.warning, "\(diagnostic)") }
      var listeners: [SocketAddressConfiguration: ListenerState] = [:]
      for listener in configuration.listeners {
        listeners[listener.address] = try open(listener.address, metrics)
      }
      let gateway = RunningGateway(
        configPath: configPath, started: snapshot.configuration, shared: shared, interceptors: interceptors,
        state: State(
          snapshot: snapshot, listeners: listeners, status: ConfigurationStatus(warnings: faults, compiled: more)))
      try gateway.run(snapshot, Array(listeners.values), workers)
      return .success(gateway)
    } catch {
      return .failure(.other("\(error)"))
    }
  }

  static func open(
    _ address: SocketAddressConfiguration, _ metrics: GatewayMetrics
  ) throws(SystemError) -> ListenerState {
    let socket = try named(address) { (address) throws(SystemError) in try ListeningSocket(address: address) }
    return ListenerState(socket: socket, configured: address, metrics: metrics)
  }

  /// Opens something at an address. The error names the address: of several, one is taken.
  private static func named<Opened>(
    _ configured: SocketAddressConfiguration, _ open: (SocketAddress) throws(SystemError) -> Opened
  ) throws(SystemError) -> Opened {
    do throws(SystemError) {
      return try open(try SocketAddress(configured))
    } catch {
      throw SystemError(call: "cannot listen on \(configured.text)", code: error.code)
    }
  }

  /// The interceptors and everything else that a snapshot needs.
  static func compile(
    _ configuration: GatewayConfiguration, _ shared: GatewayShared, _ more: [any Interceptor], generation: Int,
    before: Snapshot? = nil, files: CredentialFiles = CredentialFiles()
  ) -> (snapshot: Snapshot?, diagnostics: [Diagnostic]) {
    SnapshotCompiler.compile(
      configuration, stages: shared.stages, tickets: shared.tickets, accessTokens: shared.accessTokens,
      builder: InterceptorBuilder(
        limits: shared.rateLimiters, concurrency: shared.concurrency, accessLogs: shared.accessLogs,
        keySets: shared.keySets, files: files), generation: generation,
      interceptors: more, known: before.map { ($0.schema, $0.hash, $0.schemaWarnings) }, files: files)
  }

  private func run(_ snapshot: Snapshot, _ listeners: [ListenerState], _ count: Int) throws(SystemError) {
    shared.metrics.registry.onScrape { [weak shared] in
      // The registry is part of what it would hold.
      guard let shared else { return }
      shared.metrics.operation.bufferedBytes.set(Double(shared.buffers.bytes))
      shared.metrics.process.report()
      shared.accessLogs.report()
      UpstreamReport.report(shared)
      shared.rollout.report()
      shared.metrics.rollout.stateLeader.set(shared.rampLead.isOurs ? 1 : 0)
    }
    publishStages(snapshot)
    shared.published(snapshot)
    shared.stages.onChange { [log = shared.log, weak self] record in
      log.write(record)
      self?.tell(record)
    }
    // Before the workers: a taken port must not leave a gateway behind that serves half.
    let servers = try openServers(snapshot)
    state.withLock { $0.servers = servers }
    do throws(SystemError) {
      try beginKeepingStages(snapshot)
    } catch {
      waitUntilEnded()
      throw error
    }
    for index in 0..<count {
      ended.enter()
      do throws(SystemError) {
        let worker = try WorkerThread.start(
          index: index, shared: shared, snapshot: snapshot, listeners: listeners
        ) { [ended] in ended.leave() }
        state.withLock { $0.workers.append(worker) }
      } catch {
        ended.leave()
        drain()
        waitUntilEnded()
        throw error
      }
    }
    watchFiles(snapshot.configuration)
    shareDescriptors(snapshot.configuration, listeners)
  }

  /// Everything is open that is open without clients.
  private func shareDescriptors(_ configuration: GatewayConfiguration, _ listeners: [ListenerState]) {
    guard let inUse = listeners.first?.socket.nextDescriptor else { return }
    shared.descriptors.begin(limit: DescriptorLimit.present, inUse: inUse)
    let reachable = shared.descriptors.connections(configuration.limits)
    shared.metrics.connections.limit.set(Double(reachable))
    let warning = DescriptorBudget.warning(
      limits: configuration.limits, reachable: reachable, file: configuration.file)
    guard let warning else { return }
    if DescriptorBudget.isMistake(configuration.limits, reachable: reachable) {
      shared.log.write(.warning, "\(warning)")
    } else {
      shared.log.write(.info, warning.what)
    }
  }

  private func openServers(_ snapshot: Snapshot) throws(SystemError) -> [LocalServer] {
    let configuration = snapshot.configuration
    let failed: @Sendable (String) -> Void = { [log = shared.log] in log.write(.warning, $0) }
    var servers: [LocalServer] = []
    if let admin = configuration.admin {
      let refusals = AdminRefusals(metrics: shared.metrics, log: shared.log)
      let security = snapshot.security.admin.map { LocalServerSecurity($0) }
      state.withLock { state in
        state.adminSecurity = security
        state.adminToken = admin.token
      }
      servers.append(
        try Self.named(admin.address) { (address) throws(SystemError) in
          try LocalServer(
            address: address, name: "admin", security: security, failed: failed
          ) { [self] request in
            let token = self.state.withLock { $0.adminToken }
            return AdminHandler(role: .admin(token: token), control: self) { refusals.refused($0, $1) }.respond(
              to: request)
          }
        })
    }
    if let probes = configuration.probes {
      let handler = AdminHandler(role: .probes, control: self)
      do throws(SystemError) {
        servers.append(
          try Self.named(probes) { (address) throws(SystemError) in
            try LocalServer(address: address, name: "probes", failed: failed, handler: handler.respond)
          })
      } catch {
        for server in servers { server.stop() }
        for server in servers { server.join() }
        throw error
      }
    }
    return servers
  }

  /// Where it listens, with the ports that were bound.
  var addresses: ServedAddresses {
    state.withLock { state in
      let configuration = state.snapshot.configuration
      var servers = state.servers.map(\.address)
      let listeners = configuration.listeners.compactMap { state.listeners[$0.address]?.socket.address }
      let admin = configuration.admin == nil || servers.isEmpty ? nil : servers.removeFirst()
      return ServedAddresses(listeners: listeners, admin: admin, probes: servers.first)
    }
  }

  // MARK: Ending

  /// No new connections; what runs may finish. The second call changes nothing.
  func drain() {
    let (workers, time) = state.withLock { state in
      defer { state.isDraining = true }
      return (state.isDraining ? [] : state.workers, state.snapshot.configuration.drain)
    }
    guard !workers.isEmpty else { return }
    shared.log.write(.info, "draining")
    state.withLock { $0.listeners = [:] }
    for worker in workers { worker.post { $0.drain(within: time) } }
  }

  /// Waits for all workers to end, then closes the admin endpoint and the logs.
  func waitUntilEnded() {
    ended.wait()
    shared.rollout.stop()
    let (workers, servers) = state.withLock { ($0.workers, $0.servers) }
    for worker in workers { worker.join() }
    for server in servers { server.stop() }
    for server in servers { server.join() }
    endKeepingStages()
    // They hold this object by their handlers.
    state.withLock { state in
      state.servers = []
      state.workers = []
      state.watcher = nil
    }
    shared.accessLogs.flush()
    shared.log.write(.info, "ended")
    shared.log.flush()
  }

  func reopenLogs() {
    do throws(SystemError) {
      try shared.accessLogs.reopen()
    } catch {
      shared.log.write(.error, "an access log cannot be reopened: \(error)")
    }
    do throws(SystemError) {
      try state.withLock({ $0.audit })?.reopen()
    } catch {
      shared.log.write(.error, "the audit log cannot be reopened: \(error)")
    }
  }

  // MARK: Reading

  /// Runs something on every loop, soon.
  func onEachLoop(_ job: @escaping @Sendable (Worker) -> Void) {
    for worker in state.withLock({ $0.workers }) { worker.post(job) }
  }

  var snapshot: Snapshot { state.withLock { $0.snapshot } }
  var isDraining: Bool { state.withLock { $0.isDraining } }
}
