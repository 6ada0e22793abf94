import Configuration
import EventLoops
import Migration

/// What takes the route back, and what moves it on.
extension RouteJSON {
  func guarding(_ watch: RouteWatch?, _ state: StageState?) -> JSONValue {
    guard let watch, let settings = watch.route.settings.guard, let now = watch.guardState(state) else { return .null }
    var members: [JSONValue.Member] = [.init("state", .string(now))]
    let trip = state?.trip
    if let trip {
      members += [
        .init("reason", .string(trip.reason)), .init("at", .time(sinceEpoch: trip.at)),
        .init("previous", .object(Self.members(of: trip.from))),
      ]
    } else if case .exceeded(_, let reason) = watch.judgement, now != "watching" {
      members.append(.init("reason", .string(reason)))
    }
    members += [
      .init("action", .string(settings.action.rawValue)),
      .init("window_seconds", .integer(settings.window.components.seconds)),
      .init("min_requests", .integer(settings.minimumRequests)), .init("limits", .object(Self.limits(settings))),
    ]
    return .object(members)
  }

  private static func limits(_ settings: RouteSettings.Guard) -> [JSONValue.Member] {
    let limits: [(name: String, value: Int?, unit: Double)] = [
      ("max_error_rate", settings.maximumErrorRate, 10_000),
      ("max_error_rate_ratio", settings.maximumErrorRateRatio, 100),
      ("max_latency_ratio", settings.maximumLatencyRatio, 100),
      ("max_mismatch_rate", settings.maximumMismatchRate, 10_000),
    ]
    return limits.compactMap { name, value, unit in
      value.map { JSONValue.Member(name, .literal("\(Double($0) / unit)")) }
    }
  }

  func ramp(_ watch: RouteWatch?, _ state: StageState?) -> JSONValue {
    guard let watch, let settings = watch.route.settings.ramp, let machine = watch.ramp else { return .null }
    let setting = watch.route.presentContent.setting
    let step = setting.stage == .canary ? machine.step(at: setting.share) : 0
    return [
      "steps": .array(settings.steps.map { .literal("\(Double($0) / 100)") }), "step": .integer(step),
      "every_seconds": .integer(settings.every.components.seconds), "next_at": Self.next(watch.wait),
      "held": .bool(state?.isHeld ?? false), "waiting_for": Self.waiting(watch.wait),
    ]
  }

  private static func next(_ wait: RampMachine.Wait) -> JSONValue {
    guard case .time(let end) = wait else { return .null }
    let left = Int64(clamping: end) - Int64(clamping: Instant.now().nanoseconds)
    return .time(sinceEpoch: WallClock.now().sinceEpoch + left)
  }

  private static func waiting(_ wait: RampMachine.Wait) -> JSONValue {
    switch wait {
    case .idle, .finished: .null
    case .held: "somebody who lets it go on"
    case .time: "the time of the step"
    case .requests(let seen, let needed): .string("\(needed) calls on the rpc side, of which \(seen) came")
    case .unhappy(let reason): .string("the guard: \(reason)")
    }
  }
}
