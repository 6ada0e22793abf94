import Configuration
import Diagnostics
import Migration

/// What a reload does to callers that no check of one file can see.
enum CanaryChanges {
  /// Routes whose callers are told apart in another way while a share of them is on the rpc side: some change sides.
  static func warnings(from old: Snapshot, to new: Snapshot) -> [Diagnostic] {
    var before: [String: Route] = [:]
    for route in old.routes { before[route.name] = route }
    return new.routes.compactMap { route in
      let setting = route.presentContent.setting
      guard setting.stage == .canary, setting.share != .none, setting.share != .all,
        let other = before[route.name], keys(other.settings) != keys(route.settings)
      else { return nil }
      return Diagnostic(
        severity: .warning, at: route.settings.stagePosition,
        "callers of \(route.name), which is in stage \(setting), change sides: its `salt` or `sticky_by` is another",
        cure: "change them while the share is 0% or 100%")
    }
  }

  private static func keys(_ settings: RouteSettings) -> RouteSettings.Canary {
    var keys = RouteSettings.Canary()
    keys.salt = settings.canary?.salt
    keys.stickyBy = settings.canary?.stickyBy ?? []
    return keys
  }
}
