import Diagnostics

/// Whether each stage has the sides that it needs.
///
/// A service whose own stage lacks a side is fine as long as its methods say better; whether every method of
/// the schema does is known only to whoever has the schema.
struct StageChecks {
  private struct Case {
    var name: String
    var settings: RouteSettings
    /// A side or the stage itself could not be read: nothing to compare.
    var isReadable: Bool
    var saysItself: Bool
  }

  private let service: Case
  private var methods: [Case] = []

  init(service: String, settings: RouteSettings, isReadable: Bool) {
    self.service = Case(name: service, settings: settings, isReadable: isReadable, saysItself: true)
  }

  mutating func add(
    method: String, at position: SourcePosition, _ settings: RouteSettings, saysItself: Bool, isReadable: Bool
  ) {
    var settings = settings
    // Without a stage of its own, the method that changed the sides is the place to look at.
    if saysItself, settings.stagePosition == service.settings.stagePosition { settings.stagePosition = position }
    methods.append(
      Case(name: "\(service.name)/\(method)", settings: settings, isReadable: isReadable, saysItself: saysItself))
  }

  func run(_ context: LoadContext) {
    if context.isIncomplete { return }
    let mayBeFine = methods.contains { $0.saysItself }
    if !mayBeFine || methods.contains(where: { !$0.saysItself }) { check(service, context) }
    for method in methods where method.saysItself { check(method, context) }
  }

  private func check(_ route: Case, _ context: LoadContext) {
    guard route.isReadable else { return }
    let settings = route.settings
    let needs: [(name: String, isThere: Bool, kind: String)] = [
      ("rest", settings.rest != nil || settings.stage == .rpc, "rest"),
      ("rpc", settings.rpc != nil || settings.stage == .rest, "connect"),
    ]
    for need in needs where !need.isThere {
      context.error(
        settings.stagePosition,
        "stage \(quoted(settings.stage.rawValue)) of \(quoted(route.name)) needs `\(need.name)`, which is not given",
        cure: "name an upstream with `protocol: \(need.kind)` as `\(need.name):`, or choose another `stage:`")
    }
    checkCanary(route.name, settings, context)
  }

  private func checkCanary(_ name: String, _ settings: RouteSettings, _ context: LoadContext) {
    if settings.ramp != nil, settings.guard == nil {
      context.error(
        settings.rampPosition, "the ramp of \(quoted(name)) has no guard, so it would go on whatever happens",
        cure: "add `guard: { min_requests: 100, max_error_rate: 1% }`")
    }
    guard settings.stage == .canary, settings.canary?.percent == nil, settings.ramp == nil else { return }
    context.error(
      settings.stagePosition, "stage `canary` of \(quoted(name)) has no share of the callers",
      cure: "write `canary: { percent: 1% }`, or `ramp:`")
  }
}
