extension Sections {
  private static let routeHints: [String: KeyHint] = interceptorHints.merging([
    "percent": .misplaced("write it under `canary:`"), "sticky_by": .misplaced("write it under `canary:`"),
  ]) { $1 }

  static let service = Section<RouteKey>(
    "a service", keys: RouteKey.shared + [.methods, .answer],
    hints: routeHints.merging(["http": .misplaced("write it under a method of `methods:`")]) { $1 })
  static let method = Section<RouteKey>(
    "a method", keys: RouteKey.shared + [.http],
    hints: routeHints.merging(["answer": .misplaced("a service is answered as a whole: write it there")]) { $1 })
  static let json = Section<JSONKey>("the JSON settings")
  static let query = Section<QueryKey>("the query settings")
  static let errors = Section<ErrorsKey>("the error settings", shorthand: .format)
  static let errorStatuses = Section<ErrorSettings.Code>("the statuses of errors")
  static let inSuccess = Section<InSuccessKey>("what tells an error")
  static let compression = Section<CompressionKey>("the compression")
  static let routeLimits = Section<RouteLimitsKey>("the limits of a route")
  static let shadow = Section<ShadowKey>("the shadow settings")
  static let fallback = Section<FallbackKey>("the fallback settings")
  static let events = Section<EventKey>("the fields of events")
}

enum RouteKey: String, SectionKey {
  case rest, rpc, stage, hosts, prefix, envelope, timeout, json, query, errors, shadow, compression, interceptors
  case etag, stream, events, canary, override, limits, `guard`, ramp, retries, fallback
  case rateLimitCost = "rate_limit_cost"
  case isPublic = "public"
  case stripPrefix = "strip_prefix"
  case dryRun = "dry_run"
  case bodyTypes = "body_types"
  case successStatus = "success_status"
  case trailingSlash = "trailing_slash"
  /// Of a service only.
  case methods, answer
  /// Of a method only.
  case http

  /// What a service and a method can both say.
  static let shared = allCases.filter { ![.methods, .answer, .http].contains($0) }
}

enum JSONKey: String, SectionKey {
  case emitDefaults = "emit_defaults"
  case fieldNames = "field_names"
  case int64, enums
  case enumPrefix = "enum_prefix"
  case enumCase = "enum_case"
  case unset, timestamps, reading
  case unknownFields = "unknown_fields"
}

enum QueryKey: String, SectionKey {
  case unknown, ignore, lists
}

enum CompressionKey: String, SectionKey {
  case types, algorithms
  case minSize = "min_size"
  case passThrough = "pass_through"
}

enum RouteLimitsKey: String, SectionKey {
  case request, response
}

enum ErrorsKey: String, SectionKey {
  case format, body, statuses
  case inSuccess = "in_success"
}

extension ErrorSettings.Code: SectionKey {}

enum InSuccessKey: String, SectionKey {
  case member, equals, not, code
}

enum EventKey: String, SectionKey {
  case event, id
}

enum FallbackKey: String, SectionKey {
  case unsafe
  case maxBody = "max_body"
}

enum ShadowKey: String, SectionKey {
  case sample
  case maxBody = "max_body"
  case maxInFlight = "max_in_flight"
  case maxRate = "max_rate"
  case timeout, unsafe, back, ignore, unordered, tolerance, unknown, spelling, samples
  case maxSamples = "max_samples"
  case pathMetrics = "path_metrics"
}
