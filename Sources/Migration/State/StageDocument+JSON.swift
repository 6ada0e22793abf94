import Configuration
package import JSONValues

/// A document as JSON, in the state file and in Redis.
///
/// Times are nanoseconds since 1970 in text, because many readers of JSON have no such numbers. Unknown members are
/// ignored: a newer program may have written them.
extension StageDocument {
  package var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("procedure", .string(procedure)), .init("version", .string(version.description)),
      .init("replica", .string(replica)), .init("configured", Self.json(configured)),
    ]
    if let override = overlay.override {
      members.append(.init("override", ["to": Self.json(override.setting), "origin": Self.json(override.origin)]))
    }
    if let trip = overlay.trip {
      members.append(
        .init(
          "trip",
          [
            "to": Self.json(trip.setting), "from": Self.json(trip.from), "reason": .string(trip.reason),
            "at": .string("\(trip.at)"),
          ]))
    }
    if overlay.isHeld { members.append(.init("held", true)) }
    return .object(members)
  }

  /// Reads a document; nil when it is none, or says something that this program does not know.
  package init?(json: JSONValue) {
    guard let procedure = json["procedure"]?.text, !procedure.isEmpty, procedure.utf8.count <= 1_024,
      let version = json["version"]?.text.flatMap({ Version($0) }),
      let configured = json["configured"].flatMap({ Self.setting($0) })
    else { return nil }
    var overlay = StageState.Overlay()
    if let value = json["override"], value != .null {
      guard let to = value["to"].flatMap({ Self.setting($0) }),
        let origin = value["origin"].flatMap({ Self.origin($0) })
      else { return nil }
      overlay.override = StageState.Override(to, origin)
    }
    if let value = json["trip"], value != .null {
      guard let to = value["to"].flatMap({ Self.setting($0) }), let from = value["from"].flatMap({ Self.setting($0) }),
        let at = value["at"].flatMap({ Self.time($0) })
      else { return nil }
      overlay.trip = StageState.Trip(to: to, from: from, reason: Self.reason(value["reason"]), at: at)
    }
    switch json["held"] {
    case .bool(let isHeld): overlay.isHeld = isHeld
    case nil, .null: break
    default: return nil
    }
    self.init(
      procedure: procedure, version: version, replica: Self.reason(json["replica"]), configured: configured,
      overlay: overlay)
  }

  // MARK: Parts

  /// `{"stage":"canary","percent":12.5}`; the percentage of a canary only.
  package static func json(_ setting: StageSetting) -> JSONValue {
    var members = [JSONValue.Member("stage", .string(setting.stage.rawValue))]
    if setting.stage == .canary { members.append(.init("percent", .literal(setting.share.text))) }
    return .object(members)
  }

  private static func setting(_ value: JSONValue) -> StageSetting? {
    guard let stage = value["stage"]?.text.flatMap({ RouteSettings.Stage(rawValue: $0) }) else { return nil }
    guard stage == .canary else { return StageSetting(stage) }
    guard let share = value["percent"]?.number.flatMap({ Share(percent: $0) }) else { return nil }
    return StageSetting(stage, share: share)
  }

  private static func json(_ origin: StageOrigin) -> JSONValue {
    [
      "kind": .string(origin.kind.rawValue), "actor": .string(origin.actor), "reason": .string(origin.reason),
      "at": .string("\(origin.at)"),
    ]
  }

  private static func origin(_ value: JSONValue) -> StageOrigin? {
    guard let kind = value["kind"]?.text.flatMap({ StageOrigin.Kind(rawValue: $0) }),
      let at = value["at"].flatMap({ time($0) })
    else { return nil }
    return StageOrigin(kind, actor: reason(value["actor"]), reason: reason(value["reason"]), at: at)
  }

  private static func time(_ value: JSONValue) -> Int64? { value.text.flatMap { Int64($0) } }

  /// Text for people, cut to what a log line takes.
  ///
  /// By scalars: a character may be made of any number of them.
  private static func reason(_ value: JSONValue?) -> String {
    String(String.UnicodeScalarView((value?.text ?? "").unicodeScalars.prefix(512)))
  }
}
