import Configuration
import Migration

/// Who answers an explained call, and who is asked besides.
extension Explanation {
  /// - Parameter stage: what was asked for in place of the route's stage; nil: that counts.
  static func describeSide(_ call: Call, asIf stage: String?, _ report: inout ExplanationText) {
    guard let decision = call.decision else { return }
    let origin = Self.origin(call, asIf: stage)
    report.line("stage", "\(decision.stage.rawValue): the \(decision.side.label) side answers\(origin)")
    guard let route = call.route?.plan else { return }
    describeChoice(call, route, decision, &report)
    if let plan = route.fallback, let other = SideFallback.target(of: call, route, plan, decision) {
      let name = call.plans.snapshot.upstreams[other].name
      report.line("fallback", "the \(decision.side.other.label) side (\(name)) is asked once more, if it fails")
    }
    describeCopy(call, route, decision, &report)
  }

  /// What made the choice, where the stage leaves one.
  private static func describeChoice(
    _ call: Call, _ route: Route, _ decision: StageDecision, _ report: inout ExplanationText
  ) {
    switch decision.reason {
    case .stage: break
    case .rule: report.line("because", "a rule of `canary` says so")
    case .override: report.line("because", "the header of `override` says so")
    case .share:
      let place = StickyHash.place(of: route.canary.keys.hash(of: call))
      let keys = (route.settings.canary?.stickyBy ?? []).map(\.text)
      let known = keys.isEmpty ? "" : "the first that is there of \(keys.joined(separator: ", ")), else "
      report.line("because", "this caller stands at \(share(place)) of all; it is known by \(known)its address")
    }
  }

  /// That somebody, a guard or a ramp has set the stage over that of the file.
  private static func origin(_ call: Call, asIf stage: String?) -> String {
    guard let route = call.route?.plan else { return "" }
    let (now, file) = (route.presentContent.setting, StageSetting(route.settings))
    if let stage {
      return now.stage.rawValue == stage
        ? " (as if that were its stage; the file says \(file))" : ": it has no upstream for stage \(stage)"
    }
    return now == file ? "" : " (\(now) at run time; the file says \(file))"
  }

  /// The copy that ``Shadow`` would begin, of which chance and what runs at the time have the last word.
  private static func describeCopy(
    _ call: Call, _ route: Route, _ decision: StageDecision, _ report: inout ExplanationText
  ) {
    let settings = route.settings
    if !decision.shadows, decision.side == .rest, settings.dryRun > 0, call.face.kind == .rest, !route.isStreaming {
      report.line("copy", "none is sent; \(share(settings.dryRun)) of the calls are translated on trial")
    }
    guard decision.shadows || decision.side == .rpc && settings.shadow.back,
      let upstream = route.upstream(of: decision.side.other)
    else { return }
    let to = "the \(decision.side.other.label) side (\(call.plans.snapshot.upstreams[upstream].name))"
    if route.isStreaming {
      report.line("copy", "none to \(to): a stream is not copied")
    } else if !settings.shadow.unsafe, !call.hasNoSideEffects(route) {
      report.line("copy", "none to \(to): the method may have side effects, and `shadow.unsafe` is not set")
    } else {
      report.line("copy", "\(share(settings.shadow.sample)) of the calls go to \(to) too, and the answers are compared")
    }
  }

  /// - Parameter hundredths: of a percent.
  private static func share(_ hundredths: Int) -> String {
    "\((Share(hundredths: hundredths) ?? .all).text)%"
  }
}
