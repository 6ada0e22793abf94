import Configuration
import Migration

/// What is set for the route, and how it came to that.
extension RouteJSON {
  /// - Parameter state: nil for a route that is not published yet.
  func stage(_ state: StageState?) -> [JSONValue.Member] {
    let configured = StageSetting(route.settings)
    let effective = route.presentContent.setting
    var members: [JSONValue.Member] = [
      .init("procedure", .string(route.name)), .init("stage", .string(effective.stage.rawValue)),
    ]
    if effective.stage == .canary { members.append(.init("percent", Self.percent(effective))) }
    members.append(.init("configured_stage", .string(configured.stage.rawValue)))
    if configured.stage == .canary { members.append(.init("configured_percent", Self.percent(configured))) }
    return members
  }

  func override(_ state: StageState?) -> JSONValue {
    guard let override = state?.override else { return .null }
    return .object(
      Self.members(of: override.setting) + [
        .init("by", .string(override.origin.actor)), .init("kind", .string(override.origin.kind.rawValue)),
        .init("at", .time(sinceEpoch: override.origin.at)), .init("reason", .string(override.origin.reason)),
      ])
  }

  func history(_ state: StageState?) -> JSONValue {
    .array((state?.history ?? []).map { Self.entry($0) })
  }

  private static func entry(_ record: StageChangeRecord) -> JSONValue {
    [
      "at": .time(sinceEpoch: record.origin.at), "action": .string(record.action.rawValue),
      "from": .object(members(of: record.from)), "to": .object(members(of: record.to)),
      "by": .string(record.origin.actor), "kind": .string(record.origin.kind.rawValue),
      "reason": .string(record.origin.reason),
    ]
  }

  /// The stage, and of a canary its share.
  static func members(of setting: StageSetting) -> [JSONValue.Member] {
    var members = [JSONValue.Member("stage", .string(setting.stage.rawValue))]
    if setting.stage == .canary { members.append(.init("percent", percent(setting))) }
    return members
  }

  private static func percent(_ setting: StageSetting) -> JSONValue { .literal(setting.share.text) }
}
