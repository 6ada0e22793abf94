import Diagnostics

/// `guard:` and `ramp:` of a route.
extension RootReader {
  /// Lays the keys over those of the service.
  func apply(guard node: Node, to guarding: inout RouteSettings.Guard?) {
    let section = Sections.guard
    guard let map = MappingReader(node, section, context) else { return }
    var result = guarding ?? RouteSettings.Guard(minimumRequests: 1)
    if guarding == nil {
      let cure = "write `min_requests: 100`, so that one failed call does nothing"
      if map.required(.minimumRequests, section, context, cure: cure) == nil { return }
      if !GuardKey.limits.contains(where: { map[$0] != nil || map.wasMeant($0) }) {
        context.error(
          node.position, "the guard has nothing to watch", cure: "add \(listed(GuardKey.limits.map(\.rawValue), "or"))")
        return
      }
    }
    context.read(map[.window], into: &result.window) { window($0) }
    context.read(map[.minimumRequests], into: &result.minimumRequests) { context.integer($0, 1...1_000_000_000) }
    context.read(map[.maximumErrorRate], into: &result.maximumErrorRate) { context.share($0) }
    context.read(map[.maximumErrorRateRatio], into: &result.maximumErrorRateRatio) { context.ratio($0) }
    context.read(map[.maximumLatencyRatio], into: &result.maximumLatencyRatio) { context.ratio($0) }
    context.read(map[.maximumMismatchRate], into: &result.maximumMismatchRate) { context.share($0) }
    context.read(map[.action], into: &result.action) { context.word($0, "an action of a guard") }
    context.read(map[.maximumKeyShare], into: &result.maximumKeyShare) { keyShare($0) }
    guarding = result
  }

  private func window(_ node: Node) -> Duration? {
    guard let window = context.duration(node) else { return nil }
    guard window >= .seconds(1), window <= .seconds(86_400) else {
      context.error(node.position, "the window is out of bounds", cure: "write one from `1s` to `24h`")
      return nil
    }
    return window
  }

  private func keyShare(_ node: Node) -> Int? {
    guard let share = context.share(node) else { return nil }
    guard share > 0 else {
      context.error(node.position, "then nobody's calls would count", cure: "write a share above `0%`")
      return nil
    }
    return share
  }

  func ramp(_ node: Node) -> RouteSettings.Ramp? {
    let section = Sections.ramp
    let cure = "write `{ steps: [1%, 5%, 25%, 50%, 100%], every: 10m }`"
    if case .mapping = node.content {
    } else {
      context.error(node.position, "a ramp is steps and a time, not \(node.kindName)", cure: cure)
      return nil
    }
    guard let map = MappingReader(node, section, context) else { return nil }
    let steps = map.required(.steps, section, context, cure: cure).flatMap { rampSteps($0) }
    let every = map.required(.every, section, context, cure: cure).flatMap { rampTime($0) }
    guard let steps, let every else { return nil }
    return RouteSettings.Ramp(steps: steps, every: every)
  }

  private func rampSteps(_ node: Node) -> [Int]? {
    guard let elements = context.list(node, "shares") else { return nil }
    var steps: [Int] = []
    for element in elements {
      guard let share = context.share(element) else { return nil }
      if share <= steps.last ?? 0 {
        context.error(
          element.position, "a ramp's steps only go up", cure: "write each greater than the one before, from above `0%`"
        )
        return nil
      }
      steps.append(share)
    }
    if steps.isEmpty {
      context.error(node.position, "the ramp has no steps", cure: "write `steps: [1%, 5%, 25%, 50%, 100%]`")
      return nil
    }
    return steps
  }

  private func rampTime(_ node: Node) -> Duration? {
    guard let time = context.duration(node) else { return nil }
    guard time >= .seconds(1) else {
      context.error(node.position, "a step is too short for anybody to see it", cure: "write `1s` or more")
      return nil
    }
    return time
  }
}
