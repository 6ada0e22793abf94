import Configuration
import Migration

/// How one route does: the windows of its sides, what its guard makes of them, where its ramp stands.
struct RouteWatch {
  /// What is to be done about a route.
  enum Action {
    /// To this setting, if the state still has this revision.
    case trip(StageSetting, judged: Int, GuardJudgement.Limit, String)
    case hold(String)
    case alert(String)
    case advance(from: StageSetting, to: StageSetting, step: Int, of: Int)
  }

  /// Without a guard.
  static let usualWindow: Duration = .seconds(60)

  private(set) var route: Route
  private(set) var windows: (rest: SlidingWindow, rpc: SlidingWindow)?
  private(set) var judgement = GuardJudgement.content
  private(set) var ramp: RampMachine?
  private(set) var wait = RampMachine.Wait.idle
  private var revision = 0
  private var isAlerted = false
  private var weightsEnd: UInt64 = 0

  init(route: Route) {
    self.route = route
    ramp = Self.ramp(route)
  }

  private static func ramp(_ route: Route) -> RampMachine? {
    guard let ramp = route.settings.ramp, let guarding = route.settings.guard else { return nil }
    return RampMachine(ramp, minimumRequests: guarding.minimumRequests)
  }

  /// The next snapshot's plan: what was counted stays, unless the window has another length.
  mutating func adopt(_ next: Route) {
    if windowLength(next) != windowLength(route), let windows {
      let length = windowLength(next)
      self.windows = (windows.rest.resized(to: length), windows.rpc.resized(to: length))
    }
    if next.settings.ramp != route.settings.ramp || next.settings.guard != route.settings.guard {
      ramp = Self.ramp(next)
    }
    route = next
  }

  private func windowLength(_ route: Route) -> UInt64 {
    UInt64(clamping: (route.settings.guard?.window ?? Self.usualWindow).components.seconds) &* 1_000_000_000
  }

  var isGuarded: Bool { route.settings.guard != nil }

  // MARK: Time goes on

  /// - Parameters:
  ///   - now: nanoseconds of the machine's clock.
  ///   - totals: nil as long as the route was never used.
  mutating func tick(
    at now: UInt64, _ totals: (rest: SideCounts, rpc: SideCounts)?, _ state: StageState?, _ figures: FigureRegistry
  ) -> [Action] {
    if let state, state.revision != revision {
      revision = state.revision
      restartIfNeeded(state, at: now)
    }
    if let totals {
      if windows == nil {
        let length = windowLength(route)
        windows = (SlidingWindow(length: length, at: now), SlidingWindow(length: length, at: now))
      }
      windows?.rest.advance(to: now, totals: totals.rest)
      windows?.rpc.advance(to: now, totals: totals.rpc)
    }
    guard let guarding = route.settings.guard, let state else { return [] }
    weigh(guarding, figures, at: now)
    judgement = GuardJudgement(
      guarding, rpc: windows?.rpc.sum ?? SideCounts(), rest: windows?.rest.sum ?? SideCounts())
    var actions: [Action] = []
    if let action = answer(guarding, state) { actions.append(action) }
    if let action = climb(state, totals?.rpc.requests ?? 0, at: now), actions.isEmpty { actions.append(action) }
    return actions
  }

  /// Somebody set the stage: what was before is no part of what is judged from now on. What was counted since the last
  /// tick is, because most of it came after.
  private mutating func restartIfNeeded(_ state: StageState, at now: UInt64) {
    guard let record = state.history.first, record.action == .moved else { return }
    switch record.origin.kind {
    case .guard, .ramp: break
    case .file, .admin, .peer:
      windows?.rest.restart(at: now)
      windows?.rpc.restart(at: now)
      isAlerted = false
    }
  }

  /// One caller's part of the window, of the calls that it needs at least.
  private mutating func weigh(_ guarding: RouteSettings.Guard, _ figures: FigureRegistry, at now: UInt64) {
    guard guarding.maximumKeyShare < 10_000 else { return }
    let weights = figures.weights(of: route.name, guarding)
    weights.allow(KeyWeights.limit(guarding, of: windows?.rpc.sum.requests ?? 0))
    guard now >= weightsEnd else { return }
    weightsEnd = now &+ windowLength(route)
    weights.clear()
  }

  private mutating func answer(_ guarding: RouteSettings.Guard, _ state: StageState) -> Action? {
    guard case .exceeded(let limit, let reason) = judgement else {
      isAlerted = false
      return nil
    }
    guard state.trip == nil else { return nil }
    let now = state.effective
    let target: StageSetting? =
      switch now.stage {
      case .canary: StageSetting(.canary)
      case .rpc: route.canServe(.rest) ? StageSetting(.rest) : nil
      case .rest, .shadow: nil
      }
    if now.stage == .rest { return nil }
    switch guarding.action {
    case .rollback:
      if let target { return .trip(target, judged: state.revision, limit, reason) }
    case .hold where now.stage == .canary:
      return state.isHeld ? nil : .hold(reason)
    case .hold, .alert: break
    }
    guard !isAlerted else { return nil }
    isAlerted = true
    return .alert(reason)
  }

  private mutating func climb(_ state: StageState, _ requests: UInt64, at now: UInt64) -> Action? {
    guard let settings = route.settings.ramp else { return nil }
    let action = ramp?.next(
      state.effective, isHeld: state.isHeld, isTripped: state.trip != nil, judgement, requests: requests, at: now)
    switch action {
    case .wait(let wait):
      self.wait = wait
      return nil
    case .advance(let share):
      return .advance(
        from: state.effective, to: StageSetting(.canary, share: share), step: ramp?.step(at: share) ?? 0,
        of: settings.steps.count)
    case nil: return nil
    }
  }

  // MARK: Looking

  /// What its guard is doing; nil without one.
  func guardState(_ state: StageState?) -> String? {
    guard let guarding = route.settings.guard else { return nil }
    if state?.trip != nil { return "tripped" }
    if guarding.action == .hold, state?.isHeldByGuard == true { return "holding" }
    return isAlerted ? "alerting" : "watching"
  }
}

extension StageState {
  /// Whether a guard was the last to stop the ramp.
  var isHeldByGuard: Bool {
    isHeld && history.first { $0.action == .held }?.origin.kind == .guard
  }
}
