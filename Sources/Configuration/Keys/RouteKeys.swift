extension Sections {
  private static let routeHints: [String: KeyHint] = [
    "canary": .notYet("a route is in stage `rest`, `shadow` or `rpc` as a whole"),
    "guard": .notYet("watch the metrics and set the stage with `turnout stage`"),
  ]

  static let service = Section<RouteKey>(
    "a service", keys: RouteKey.shared + [.methods],
    hints: routeHints.merging(["http": .misplaced("write it under a method of `methods:`")]) { $1 })
  static let method = Section<RouteKey>("a method", keys: RouteKey.shared + [.http], hints: routeHints)
  static let json = Section<JSONKey>("the JSON settings")
  static let query = Section<QueryKey>("the query settings")
  static let errors = Section<ErrorsKey>("the error settings")
  static let shadow = Section<ShadowKey>(
    "the shadow settings",
    hints: [
      "ignore": .notYet("copies are sent and counted, their answers are not compared"),
      "unordered": .notYet("copies are sent and counted, their answers are not compared"),
      "unsafe": .notYet("only methods without side effects are copied"),
    ])
}

enum RouteKey: String, SectionKey {
  case rest, rpc, stage, hosts, prefix, envelope, timeout, json, query, errors, shadow, compression, interceptors
  case stream, retries, concurrency
  case isPublic = "public"
  case stripPrefix = "strip_prefix"
  case bodyTypes = "body_types"
  case successStatus = "success_status"
  /// Of a service only.
  case methods
  /// Of a method only.
  case http

  /// What a service and a method can both say.
  static let shared = allCases.filter { $0 != .methods && $0 != .http }
}

enum JSONKey: String, SectionKey {
  case emitDefaults = "emit_defaults"
  case fieldNames = "field_names"
  case int64, enums
  case enumPrefix = "enum_prefix"
  case enumCase = "enum_case"
  case unset, timestamps
  case unknownFields = "unknown_fields"
}

enum QueryKey: String, SectionKey {
  case unknown, ignore
}

enum ErrorsKey: String, SectionKey {
  case format
}

enum ShadowKey: String, SectionKey {
  case sample
  case maxBody = "max_body"
}
