import Configuration
import Metrics
import Migration

extension RolloutMetrics {
  /// The states of a guard, as metrics and the admin endpoint name them.
  static let guardStates = ["watching", "tripped", "holding", "alerting"]

  /// Sets the gauges of one route.
  func report(_ watch: RouteWatch, _ state: StageState?) {
    let route = watch.route
    let setting = route.presentContent.setting
    for stage in RouteSettings.Stage.allCases {
      stages.child([route.service, route.method, stage.rawValue]).set(stage == setting.stage ? 1 : 0)
    }
    shares.child([route.service, route.method]).set(setting.share.percent / 100)
    if let now = watch.guardState(state) {
      for state in Self.guardStates {
        guards.child([route.service, route.method, state]).set(state == now ? 1 : 0)
      }
    }
    if let ramp = watch.ramp {
      let step = setting.stage == .canary ? ramp.step(at: setting.share) : 0
      rampSteps.child([route.service, route.method]).set(Double(step))
    }
  }
}
