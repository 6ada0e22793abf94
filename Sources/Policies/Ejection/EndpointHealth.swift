import Synchronization

/// What is said of an endpoint to people.
package struct EndpointFacts: Sendable, Equatable {
  /// As the configuration has it.
  package var endpoint = ""
  /// Where its connections go.
  package var address = ""
  package var weight = 1
  package var priority = 0
  package var zone = ""

  package init() {}

  package init(endpoint: String, address: String, weight: Int, priority: Int, zone: String) {
    self.endpoint = endpoint
    self.address = address
    self.weight = weight
    self.priority = priority
    self.zone = zone
  }
}

/// How one endpoint does, for all loops: what checks found, what its answers say, whether it can be reached.
///
/// Reading is one atomic load. Times are nanoseconds of the monotonic clock.
package final class EndpointHealth: Sendable {
  /// For people and metrics.
  package enum State: String, Sendable, CaseIterable {
    case healthy
    /// Checks fail.
    case unhealthy
    /// Its answers were failures.
    case ejected
    /// No connection could be opened.
    case unreachable
  }

  private struct Record {
    var failures = 0
    var ejectedUntil: UInt64 = 0
    var lastEjection: UInt64 = 0
    var connectFailures = 0
    var unreachableUntil: UInt64 = 0
    var isUnhealthy = false
    var lastError = ""
    var facts = EndpointFacts()
  }

  package let name: String
  private unowned let group: EndpointGroup
  /// Not used before that time; the greatest one: until a check says otherwise.
  private let blockedUntil = Atomic<UInt64>(0)
  /// Whether there is something for a success to take back.
  private let isDoubtful = Atomic<Bool>(false)
  private let record = Mutex(Record())
  private let load: [Cell]

  /// The requests of one loop, alone on its cache lines; only that loop writes it.
  private final class Cell: Sendable {
    private let before: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    let count = Atomic<Int>(0)
    private let after: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
  }

  init(name: String, group: EndpointGroup, shards: Int) {
    self.name = name
    self.group = group
    load = (0..<max(1, shards)).map { _ in Cell() }
  }

  // MARK: Load

  /// A request begins, or ends with -1.
  package func count(_ change: Int, shard: Int) {
    let cell = load[load.indices.contains(shard) ? shard : 0]
    cell.count.wrappingAdd(change, ordering: .relaxed)
  }

  /// Requests under way, of all loops.
  package var inFlight: Int { load.reduce(0) { $0 + $1.count.load(ordering: .relaxed) } }

  // MARK: Reading

  /// Whether requests may go to it at a moment in nanoseconds; one atomic load.
  package func isUsable(at now: UInt64) -> Bool { blockedUntil.load(ordering: .relaxed) <= now }

  /// When it may be used again; 0 for one that may be now.
  package var usableAt: UInt64 { blockedUntil.load(ordering: .relaxed) }

  /// What to call that; takes a lock when the endpoint is not well.
  package func state(at now: UInt64) -> State {
    if isUsable(at: now) { return .healthy }
    return record.withLock { record in
      if record.isUnhealthy { return .unhealthy }
      return record.ejectedUntil > now ? .ejected : .unreachable
    }
  }

  package var facts: EndpointFacts { record.withLock { $0.facts } }

  package func describe(_ facts: EndpointFacts) { record.withLock { $0.facts = facts } }

  /// What went wrong last; empty for nothing.
  package var lastError: String { record.withLock { $0.lastError } }

  func isEjected(at now: UInt64) -> Bool { record.withLock { $0.ejectedUntil > now } }

  // MARK: Answers

  /// A request was answered well.
  package func succeeded() {
    guard isDoubtful.load(ordering: .relaxed) else { return }
    record.withLock { record in
      record.failures = 0
      isDoubtful.store(record.connectFailures > 0, ordering: .relaxed)
    }
  }

  /// A request failed.
  ///
  /// - Returns: whether the endpoint is left out from now on for it.
  package func failed(_ reason: String, at now: UInt64, _ rules: EjectionRules) -> Bool {
    let isDue = record.withLock { record in
      record.failures += 1
      record.lastError = reason
      isDoubtful.store(true, ordering: .relaxed)
      return record.failures >= rules.consecutiveFailures && record.ejectedUntil <= now
    }
    guard isDue else { return false }
    return group.mayEject(self, at: now, rules) {
      self.record.withLock { record in
        // One that stayed well for as long as it was out begins anew.
        let wasWell = record.ejectedUntil == 0 || now > record.ejectedUntil &+ record.lastEjection
        record.lastEjection = wasWell ? rules.base : min(rules.longest, record.lastEjection &* 2)
        record.ejectedUntil = now &+ record.lastEjection
        record.failures = 0
        publish(record)
      }
    }
  }

  // MARK: Connections

  /// How long an endpoint that could not be reached is left alone, the first time and at most.
  private static let firstPause: UInt64 = 1_000_000_000
  private static let longestPause: UInt64 = 30_000_000_000

  /// A connection could not be opened: others are preferred for a while.
  package func connectFailed(_ reason: String, at now: UInt64) {
    record.withLock { record in
      record.lastError = reason
      isDoubtful.store(true, ordering: .relaxed)
      // Several that were tried at the same moment are one failure.
      guard record.unreachableUntil <= now else { return }
      record.connectFailures = min(record.connectFailures + 1, 16)
      let pause = min(Self.longestPause, Self.firstPause << UInt64(record.connectFailures - 1))
      record.unreachableUntil = now &+ pause
      publish(record)
    }
  }

  /// A connection was opened.
  package func connected() {
    guard isDoubtful.load(ordering: .relaxed) else { return }
    record.withLock { record in
      guard record.connectFailures > 0 else { return }
      record.connectFailures = 0
      record.unreachableUntil = 0
      isDoubtful.store(record.failures > 0, ordering: .relaxed)
      publish(record)
    }
  }

  // MARK: Checks

  /// Checks found that the endpoint is well, or that it is not.
  package func set(isHealthy: Bool, _ reason: String = "") {
    record.withLock { record in
      if !reason.isEmpty { record.lastError = reason }
      guard record.isUnhealthy == isHealthy else { return }
      record.isUnhealthy = !isHealthy
      // What could not be reached before answers now.
      if isHealthy { record.unreachableUntil = 0 }
      publish(record)
    }
  }

  private func publish(_ record: Record) {
    let until = record.isUnhealthy ? UInt64.max : max(record.ejectedUntil, record.unreachableUntil)
    blockedUntil.store(until, ordering: .relaxed)
    group.changed()
  }
}
