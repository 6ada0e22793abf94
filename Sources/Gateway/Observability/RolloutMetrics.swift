import Metrics

/// What is counted of the two sides of routes: which one answers, how they compare, and what a move is at.
struct RolloutMetrics: Sendable {
  let stages: GaugeFamily
  let shares: GaugeFamily
  let guards: GaugeFamily
  let rampSteps: GaugeFamily
  let decisions: CounterFamily
  let overridesRefused: CounterFamily
  let fallbacks: CounterFamily
  let rollbacks: CounterFamily
  let shadows: CounterFamily
  let shadowSkips: CounterFamily
  let shadowDifferences: CounterFamily
  let dryRuns: CounterFamily
  let stateErrors: CounterFamily
  let stateLeader: Gauge

  init(_ registry: MetricsRegistry) {
    stages = registry.gauge(
      "turnout_stage", help: "1 for the stage that a route is in, 0 for the others.",
      labels: ["service", "method", "stage"], maximumChildren: 20_000)
    shares = registry.gauge(
      "turnout_share", help: "The part of the callers that the rpc side answers, 0 to 1.",
      labels: ["service", "method"], maximumChildren: 5_000)
    guards = registry.gauge(
      "turnout_guard_state", help: "1 for what the guard of a route is doing, 0 for the others.",
      labels: ["service", "method", "state"], maximumChildren: 20_000)
    rampSteps = registry.gauge(
      "turnout_ramp_step", help: "The step of its ramp that a route has reached, from 1; 0: none.",
      labels: ["service", "method"], maximumChildren: 5_000)
    decisions = registry.counter(
      "turnout_stage_decisions_total",
      help: "Ended calls whose side was chosen one by one, by side and by what chose it: share, rule or override.",
      labels: ["service", "method", "side", "reason"])
    overridesRefused = registry.counter(
      "turnout_override_refused_total", help: "Testers' headers that chose no side, by why.",
      labels: ["service", "method", "reason"])
    fallbacks = registry.counter(
      "turnout_fallbacks_total",
      help: "Calls whose chosen side failed and whose route asks the other one then, by that side and what came of it.",
      labels: ["service", "method", "from", "outcome"])
    rollbacks = registry.counter(
      "turnout_rollbacks_total", help: "Routes that a guard took back, by the limit that was exceeded.",
      labels: ["service", "method", "reason"])
    shadows = registry.counter(
      "turnout_shadow_total", help: "Calls whose copy went to the other backend, by how the answers compare.",
      labels: ["service", "method", "outcome"])
    shadowSkips = registry.counter(
      "turnout_shadow_skipped_total", help: "Calls that were to be copied and have no comparison, by why.",
      labels: ["service", "method", "reason"])
    shadowDifferences = registry.counter(
      "turnout_shadow_differences_total", help: "Differences between the answers of the two backends, by field path.",
      labels: ["service", "method", "path", "kind"])
    dryRuns = registry.counter(
      "turnout_dry_run_total", help: "Calls that were translated to see what a change of stage would refuse.",
      labels: ["service", "method", "outcome"])
    stateErrors = registry.counter(
      "turnout_state_errors_total", help: "Troubles with the state file, the audit log, and sharing stages over Redis.",
      labels: ["operation"])
    stateLeader = registry.gauge(
      "turnout_state_leader", help: "Whether this process advances ramps: one of those that share their state.",
      labels: []
    ).child([])
  }

  /// The counter of a decision; nil for a call whose stage has one side only.
  func decisions(_ route: Route, _ decision: StageDecision) -> Counter? {
    guard decision.reason != .stage else { return nil }
    return decisions.child([route.service, route.method, decision.side.label, decision.reason.label])
  }
}
