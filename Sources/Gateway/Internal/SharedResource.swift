import EventLoops
import Synchronization

/// Something that is fetched from elsewhere and used by all loops: a key set, an access token.
///
/// One loop at a time fetches it, by the internal client of that loop; whoever needs it meanwhile waits for that flight
/// and is told on its own loop. A value stays until a newer one is there or its own time is up, so that an endpoint that
/// is away for a while is not missed. Kept over reloads by ``ResourceRegistry``.
final class SharedResource<Value: Sendable>: RefreshedResource {
  /// What a flight brings.
  struct Fetched: Sendable {
    var value: Value
    /// When it should be fetched anew.
    var refreshIn: Duration
    /// How long it may be used; nil: until there is a newer one.
    var usableFor: Duration?
  }

  /// Ends a flight: with a value, or with the reason for the log.
  typealias Completion = (Result<Fetched, InternalFailure>) -> Void

  private struct State {
    var value: Value?
    var usableUntil = Instant.distantFuture
    var refreshAt = Instant(nanoseconds: 0)
    var isFetching = false
    var lastBegun: Instant?
    /// Of the flights that somebody wanted, those that were due not counted.
    var lastWanted: Instant?
    var failures = 0
    var waiting: [Mailbox] = []
  }

  /// For the log.
  let name: String
  private let state = Mutex(State())
  private let count = Atomic<Int>(0)
  private let fetch: @Sendable (Worker, @escaping Completion) -> Void

  private static var longestPause: Duration { .seconds(60) }
  /// Between two flights of which the first has failed.
  private static var shortestPause: Duration { .seconds(1) }

  /// - Parameter fetch: begins a flight on a loop; calls back there once.
  init(name: String, fetch: @escaping @Sendable (Worker, @escaping Completion) -> Void) {
    self.name = name
    self.fetch = fetch
  }

  /// Changes with every value: who has seen this number has the newest one.
  var generation: Int { count.load(ordering: .acquiring) }

  /// The newest value that may be used, and its number.
  func current(at now: Instant) -> (value: Value, generation: Int)? {
    state.withLock { state in
      guard let value = state.value, now < state.usableUntil else { return nil }
      return (value, count.load(ordering: .relaxed))
    }
  }

  /// Has a closure called on this loop when the present flight has ended, or one that begins now.
  ///
  /// - Parameter pause: between two flights that are begun so; those that were due do not count.
  /// - Returns: false when none is under way and none may begin, or too many wait: the closure is dropped.
  func wait(on worker: Worker, pause: Duration = .zero, _ ended: @escaping () -> Void) -> Bool {
    guard worker.resourceWaits.hasRoom else { return false }
    let now = worker.loop.now
    let begins: Bool? = state.withLock { state in
      if !state.isFetching, !Self.mayBegin(state, now, pause) { return nil }
      if !state.waiting.contains(where: { $0 === worker.loop.mailbox }) { state.waiting.append(worker.loop.mailbox) }
      let begins = Self.begin(&state, now)
      if begins { state.lastWanted = now }
      return begins
    }
    guard let begins else { return false }
    worker.resourceWaits.add(ended, for: ObjectIdentifier(self))
    if begins { fly(worker) }
    return true
  }

  /// Fetches it if that is due.
  ///
  /// - Returns: when to ask again.
  func refresh(on worker: Worker) -> Instant {
    let now = worker.loop.now
    let (begins, next) = state.withLock { state in
      let isDue = !state.isFetching && now >= state.refreshAt && Self.begin(&state, now)
      return (isDue, state.isFetching ? now + Self.shortestPause : state.refreshAt)
    }
    if begins { fly(worker) }
    return next
  }

  /// Whether a flight may begin although none is due.
  private static func mayBegin(_ state: State, _ now: Instant, _ pause: Duration) -> Bool {
    if let last = state.lastWanted, now - last < pause { return false }
    guard state.failures > 0, let last = state.lastBegun else { return true }
    return now - last >= shortestPause
  }

  /// - Returns: whether the caller has to do it: nobody else does.
  private static func begin(_ state: inout State, _ now: Instant) -> Bool {
    guard !state.isFetching else { return false }
    state.isFetching = true
    state.lastBegun = now
    return true
  }

  private func fly(_ worker: Worker) {
    fetch(worker) { [self] result in ended(result, worker) }
  }

  private func ended(_ result: Result<Fetched, InternalFailure>, _ worker: Worker) {
    let now = worker.loop.now
    let loops = state.withLock { state in
      state.isFetching = false
      switch result {
      case .success(let fetched):
        state.value = fetched.value
        state.usableUntil = fetched.usableFor.map { now + $0 } ?? .distantFuture
        state.refreshAt = now + fetched.refreshIn
        state.failures = 0
        count.add(1, ordering: .releasing)
      case .failure:
        let pause = Duration.seconds(1 << Swift.min(state.failures, 6))
        state.failures += 1
        state.refreshAt = now + Swift.min(pause, Self.longestPause)
      }
      defer { state.waiting = [] }
      return state.waiting
    }
    if case .failure(let failure) = result, failure.kind != .closing {
      worker.log(.warning, "\(name) cannot be fetched: \(failure.reason)")
    }
    let identifier = ObjectIdentifier(self)
    for loop in loops {
      loop.post { ($0.resident as? Worker)?.resourceEnded(identifier) }
    }
  }
}

/// A resource whose values are fetched ahead of their end.
protocol RefreshedResource: AnyObject, Sendable {
  func refresh(on worker: Worker) -> Instant
}

/// Who waits on one loop, by the resource that is waited for.
struct ResourceWaits {
  private var waiting: [ObjectIdentifier: [() -> Void]] = [:]
  private var count = 0
  /// What waits may have been left by its caller, and so is bounded by nothing else.
  private static let maximum = 8192

  var hasRoom: Bool { count < Self.maximum }

  mutating func add(_ ended: @escaping () -> Void, for resource: ObjectIdentifier) {
    waiting[resource, default: []].append(ended)
    count += 1
  }

  mutating func take(_ resource: ObjectIdentifier) -> [() -> Void] {
    let taken = waiting.removeValue(forKey: resource) ?? []
    count -= taken.count
    return taken
  }
}
