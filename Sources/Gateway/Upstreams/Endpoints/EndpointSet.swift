import Configuration
import EventLoops
import HTTPModel
import Policies

/// What one entry of `endpoints:` stands for on one loop: one endpoint, or one for each address that its name has at
/// present, or for each server of a service and each of its addresses.
///
/// Names are asked when somebody needs them and their time to live is over; while the answer is under way the old
/// addresses are used. An endpoint that an answer leaves out gets no further requests, and what runs there ends in peace.
final class EndpointSet {
  let identity: EndpointIdentity
  private var configuration: EndpointConfiguration
  private var upstream: UpstreamConfiguration
  private let security: UpstreamSecurity?
  private let state: UpstreamState
  private unowned let worker: Worker
  private(set) var members: [EndpointPool] = []
  /// Grows when ``members`` change.
  private(set) var version = 0
  /// Whether the members can change.
  let isDynamic: Bool
  /// When the addresses are to be asked for again.
  private var expires = Instant(nanoseconds: 0)
  /// Whether the addresses are in doubt: one of them could not be reached.
  private var isDistrusted = false
  private(set) var isResolving = false
  private var isRetired = false
  private var waiting: [Attempt] = []
  private lazy var timer = Timer(loop: worker.loop) { [weak self] in self?.resolve() }

  /// How long an old answer may be used while a new one is asked for.
  private static let grace = Duration.seconds(30)
  /// Between questions that are not answered.
  private static let pause = Duration.seconds(1)

  init(
    identity: EndpointIdentity, configuration: EndpointConfiguration, upstream: UpstreamConfiguration,
    state: UpstreamState, security: UpstreamSecurity?, worker: Worker
  ) {
    self.identity = identity
    self.configuration = configuration
    self.upstream = upstream
    self.state = state
    self.security = security
    self.worker = worker
    var fixed: EndpointPlace?
    switch identity.target {
    case .address: fixed = SocketAddress(host: identity.host, port: identity.port).map { .address($0) }
    case .unixSocket: fixed = .unixSocket(path: identity.host)
    case .service: break
    }
    isDynamic = fixed == nil
    if let fixed {
      replace([EndpointServer(place: fixed, host: identity.host, authority: configuration.authority)])
    }
  }

  /// Takes over what a reload changed.
  func adopt(_ configuration: EndpointConfiguration, _ upstream: UpstreamConfiguration) {
    self.configuration = configuration
    self.upstream = upstream
    for member in members { member.adopt(upstream, configuration, member.server) }
    version += 1
  }

  private func replace(_ servers: [EndpointServer]) {
    var rest = members
    var next: [EndpointPool] = []
    for server in servers {
      if let index = rest.firstIndex(where: { $0.server.isSame(as: server) }) {
        let known = rest.remove(at: index)
        known.adopt(upstream, configuration, server)
        next.append(known)
        continue
      }
      let made = EndpointPool(
        identity: identity, server: server, configuration: configuration, upstream: upstream, state: state,
        security: security, worker: worker,
        counters: UpstreamCounters(worker.metrics.upstreams, identity.upstream, shard: worker.index))
      made.origin = self
      // A reload came first: it serves those who wait, and nobody counts it.
      if isRetired { made.retire() }
      next.append(made)
    }
    members = next
    version += 1
    for gone in rest {
      gone.retire()
      gone.handOver()
    }
  }

  // MARK: Names

  /// Asks for the addresses if that is due. It may be answered before this returns.
  func refresh() {
    if isDynamic, worker.loop.now >= expires { resolve() }
  }

  /// Whether nobody should be sent to the known addresses before the answer has come.
  var holdsBack: Bool {
    guard isResolving else { return false }
    let now = worker.loop.now
    if members.isEmpty || now > expires + Self.grace && !isDistrusted { return true }
    return isDistrusted && !members.contains { $0.health.isUsable(at: now.nanoseconds) }
  }

  /// An address could not be reached: the name is asked again before the next request.
  func distrust() {
    guard isDynamic else { return }
    isDistrusted = true
    expires = Instant(nanoseconds: 0)
  }

  /// An attempt that goes on when the answer has come.
  func wait(_ attempt: Attempt) { waiting.append(attempt) }

  func forget(_ attempt: Attempt) { waiting.removeAll { $0 === attempt } }

  private func resolve() {
    guard !isResolving, !isRetired else { return }
    isResolving = true
    let (host, port) = (identity.host, identity.port)
    // Whoever waits for the answer holds the set; at the end of the loop nobody may be left.
    if identity.target == .service {
      ServiceLookup(worker.loop.resolver, host).run { [weak self] in self?.resolved($0) }
    } else {
      worker.loop.resolver.resolve(host: host, port: port) { [weak self] result in
        guard let self else { return }
        resolved(
          result.map { answer in
            let servers = answer.addresses.map {
              EndpointServer(place: .address($0), host: host, authority: self.configuration.authority)
            }
            return (servers, answer.timeToLive)
          })
      }
    }
  }

  private func resolved(_ result: Result<(servers: [EndpointServer], timeToLive: Duration), ResolverError>) {
    isResolving = false
    let attempts = waiting
    waiting = []
    var fault = "no address"
    switch result {
    case .success(let answer) where !answer.servers.isEmpty:
      isDistrusted = false
      expires = worker.loop.now + Swift.max(answer.timeToLive, .seconds(1))
      update(answer.servers)
      if state.names.resolved(configuration.shownHost) {
        worker.log(
          .info, "the name \(configuration.shownHost) of the upstream \(identity.upstream) has addresses again")
      }
    case .success, .failure:
      // An old address is better than none while the name server is away.
      if case .failure(let error) = result { fault = configuration.isSecret ? error.reason : "\(error)" }
      tellTrouble(result)
      if !members.isEmpty { expires = worker.loop.now + Self.pause }
    }
    if worker.isAttending, !isRetired, upstream.isAttended {
      timer.schedule(at: Swift.max(expires, worker.loop.now + Self.pause))
    }
    for attempt in attempts where !attempt.isOver {
      if members.isEmpty {
        attempt.connectionFailed(
          nil, UpstreamFailure(kind: .resolve, reason: "\(identity.upstream) (\(configuration.shownHost)): \(fault)"))
      } else {
        attempt.pool.serve(attempt)
      }
    }
  }

  /// Says that the name gave no address, unless nobody will ask for it any more.
  private func tellTrouble(_ result: Result<(servers: [EndpointServer], timeToLive: Duration), ResolverError>) {
    var reason = "no address"
    if case .failure(let error) = result {
      if error.kind == .cancelled { return }
      reason = error.reason
    }
    let name = configuration.shownHost
    guard !isRetired, state.names.failed(name, reason, at: worker.loop.now.nanoseconds) else { return }
    let meanwhile = members.isEmpty ? "requests to it fail" : "its last addresses are used"
    worker.log(
      .warning, "the name \(name) of the upstream \(identity.upstream) does not resolve, so \(meanwhile): \(reason)")
  }

  /// Addresses in their own order, so that an answer that only turns them changes nothing.
  private func update(_ servers: [EndpointServer]) {
    let servers = Set(servers).sorted { ($0.priority, $0.place.text) < ($1.priority, $1.place.text) }
    let before = members.map(\.server)
    guard servers != before else { return }
    replace(servers)
    worker.membersChanged()
  }

  // MARK: Ending

  func retire() {
    isRetired = true
    if isDynamic { state.names.forget(configuration.shownHost) }
    timer.cancel()
    for member in members { member.retire() }
    // After all of them: nobody is sent to the next one that goes.
    for member in members { member.handOver() }
  }

  func closeIdle() {
    timer.cancel()
    for member in members { member.closeIdle() }
  }
}

extension EndpointConfiguration {
  /// For logs.
  var shownHost: String { isSecret ? "hidden" : target == .address ? "\(host):\(port)" : host }
}

extension UpstreamConfiguration {
  /// Whether its endpoints are known and looked after while nobody asks for them.
  var isAttended: Bool { healthCheck != nil || prewarm > 0 }
}
