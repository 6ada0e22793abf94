import Configuration
import EventLoops
import HTTPModel
import Metrics
import Policies

/// The endpoints of one upstream as one loop sees them, and the choice among them.
final class UpstreamPool {
  let configuration: UpstreamConfiguration
  // What each call asks, beside the whole configuration.
  let name: String
  let dialect: UpstreamDialect
  let state: UpstreamState
  let sets: [EndpointSet]
  unowned let worker: Worker
  /// Nil: answers are not judged.
  let rules: EjectionRules?
  let retries: RetryPlan?
  /// How the gateway proves to it who it is; nil: it does not.
  var credentials: PoolCredentials?
  /// Set for the gateway itself.
  private let local: LocalServices?
  private let hashKey: HashKey?
  private let isDynamic: Bool
  private(set) var members: [EndpointPool] = []

  private var balancer: Balancer
  /// Places in ``members``, in the order of the balancer's candidates.
  private var candidates: [Int] = []
  /// What the candidates were chosen by.
  private var membersVersion = -1
  private var healthVersion: UInt64 = 0
  /// When an endpoint comes back that is not among them.
  private var validUntil: UInt64 = 0

  init(
    configuration: UpstreamConfiguration, state: UpstreamState, sets: [EndpointSet], worker: Worker,
    local: LocalServices? = nil
  ) {
    self.local = local
    self.configuration = configuration
    name = configuration.name
    dialect = configuration.dialect
    self.state = state
    self.sets = sets
    self.worker = worker
    rules = configuration.outlierEjection.map { EjectionRules($0) }
    retries = configuration.retries.map { RetryPlan($0) }
    if case .hash(let key) = configuration.balance { hashKey = HashKey(key) } else { hashKey = nil }
    isDynamic = sets.contains(where: \.isDynamic)
    balancer = Balancer(first: worker.index)
    update()
  }

  // MARK: Members

  /// Takes over which endpoints there are.
  func update() {
    let version = sets.reduce(0) { $0 + $1.version }
    guard version != membersVersion else { return }
    membersVersion = version
    members = sets.flatMap(\.members)
    choose()
  }

  /// One of the endpoints has been retired by a later snapshot than this pool's.
  func lookAgain() { choose() }

  /// Chooses the candidates anew.
  private func choose() {
    healthVersion = state.endpoints.version
    validUntil = .max
    let now = worker.loop.now.nanoseconds
    var seen: [Candidates.Member] = []
    // One that is gone is none of those of which too few can be used; it serves when there is no other.
    let present = members.indices.filter { !members[$0].isRetired }
    let places = present.isEmpty ? Array(members.indices) : present
    for place in places {
      let member = members[place]
      let isUsable = member.health.isUsable(at: now)
      if !isUsable { validUntil = min(validUntil, member.health.usableAt) }
      seen.append(
        Candidates.Member(
          priority: member.server.priority,
          isLocal: !configuration.zone.isEmpty && member.zone == configuration.zone, isUsable: isUsable))
    }
    candidates = Candidates.choose(seen, threshold: configuration.panicThreshold).map { places[$0] }
    balancer.replace(candidates.map { Balancer.Candidate(weight: members[$0].weight, seed: members[$0].seed) })
  }

  // MARK: Serving

  /// Gives the attempt a connection of the endpoint whose turn it is.
  func serve(_ attempt: Attempt) {
    if let local { return local.serve(attempt) }
    if isDynamic, !isResolved(for: attempt) { return }
    guard let endpoint = next(for: attempt) else {
      attempt.connectionFailed(
        nil, UpstreamFailure(kind: .overloaded, reason: "\(configuration.name) has no endpoints"))
      return
    }
    attempt.begin(at: endpoint)
    endpoint.serve(attempt, onFreshConnection: false)
  }

  /// Sees to the addresses of names; false when the attempt waits for them, or failed for the lack of any.
  private func isResolved(for attempt: Attempt) -> Bool {
    for set in sets { set.refresh() }
    update()
    let blocked = sets.allSatisfy { $0.holdsBack || $0.members.isEmpty }
    if blocked, let set = sets.first(where: \.isResolving) {
      set.wait(attempt)
      return false
    }
    if !members.isEmpty { return true }
    let why = state.names.text
    attempt.connectionFailed(
      nil,
      UpstreamFailure(
        kind: .resolve,
        reason: "\(configuration.name): its names have no address\(why.isEmpty ? "" : " (\(why))")"))
    return false
  }

  private func next(for attempt: Attempt) -> EndpointPool? {
    if members.count == 1 { return members[0] }
    if state.endpoints.version != healthVersion || worker.loop.now.nanoseconds >= validUntil { choose() }
    let chosen = candidate(for: attempt)
    guard chosen?.isRetired == true else { return chosen }
    // A reload has taken it out, and the attempt is of the snapshot before that.
    choose()
    return candidate(for: attempt)
  }

  /// Whose turn it is, of those that were chosen last.
  private func candidate(for attempt: Attempt) -> EndpointPool? {
    var avoided: Int?
    if let failed = attempt.failedEndpoint { avoided = candidates.firstIndex { members[$0] === failed } }
    let chosen: Int?
    switch configuration.balance {
    case .roundRobin: chosen = balancer.inTurn(avoiding: avoided)
    case .leastRequests:
      chosen = balancer.leastLoaded(avoiding: avoided) { members[candidates[$0]].health.inFlight }
    case .hash:
      chosen = attempt.key.map { balancer.byKey($0, avoiding: avoided) } ?? balancer.inTurn(avoiding: avoided)
    }
    return chosen.map { members[candidates[$0]] }
  }

  /// What the call is balanced by; nil unless the upstream is balanced by a key, and the call has it.
  func key(of call: Call) -> UInt64? { hashKey?.value(of: call) }

  /// Forgets an attempt that waits for addresses.
  func forget(_ attempt: Attempt) {
    for set in sets where set.isDynamic { set.forget(attempt) }
  }

  // MARK: Judging

  /// A request to an endpoint failed.
  func failed(_ endpoint: EndpointPool, _ reason: String) {
    guard let rules, endpoint.health.failed(reason, at: worker.loop.now.nanoseconds, rules) else { return }
    worker.metrics.upstreams.ejections.child([configuration.name]).add(1, shard: worker.index)
    worker.log(.warning, "\(endpoint.name) is left out after \(rules.consecutiveFailures) failures in a row: \(reason)")
  }
}

extension EjectionRules {
  init(_ configuration: OutlierEjectionConfiguration) {
    self.init(
      consecutiveFailures: configuration.consecutiveFailures,
      base: UInt64(clamping: configuration.baseEjection.wholeNanoseconds),
      longest: UInt64(clamping: configuration.longestEjection.wholeNanoseconds), mostEjected: configuration.mostEjected)
  }
}
