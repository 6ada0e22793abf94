extension Sections {
  static let canary = Section<CanaryKey>(
    "the canary settings",
    hints: [
      "override": .misplaced("write it beside `canary:`; it is for every stage"),
      "ramp": .misplaced("write it beside `canary:`"), "guard": .misplaced("write it beside `canary:`"),
    ], shorthand: .percent)
  static let canaryRule = Section<CanaryRuleKey>("a canary rule")
  static let canaryCondition = Section<CanaryConditionKey>(
    "the condition of a rule",
    hints: [
      "headers": .misplaced("write `header:` with one name; several rules may have the same `use:`"),
      "cidr": .misplaced("write `address:`"), "percent": .misplaced("write it under `canary:`"),
    ])
  static let override = Section<OverrideKey>("the override")
  static let `guard` = Section<GuardKey>(
    "a guard",
    hints: ["ramp": .misplaced("write it beside `guard:`"), "fallback": .misplaced("write it beside `guard:`")])
  static let ramp = Section<RampKey>("a ramp", hints: ["guard": .misplaced("write it beside `ramp:`")])
}

enum GuardKey: String, SectionKey {
  case window, action
  case minimumRequests = "min_requests"
  case maximumErrorRate = "max_error_rate"
  case maximumErrorRateRatio = "max_error_rate_ratio"
  case maximumLatencyRatio = "max_latency_ratio"
  case maximumMismatchRate = "max_mismatch_rate"
  case maximumKeyShare = "max_key_share"

  /// What can be exceeded; a guard has at least one.
  static let limits: [GuardKey] = [
    .maximumErrorRate, .maximumErrorRateRatio, .maximumLatencyRatio, .maximumMismatchRate,
  ]
}

enum RampKey: String, SectionKey {
  case steps, every
}

enum CanaryKey: String, SectionKey {
  case percent, salt, rules
  case stickyBy = "sticky_by"
}

enum CanaryRuleKey: String, SectionKey {
  case when, use
}

enum CanaryConditionKey: String, SectionKey {
  case header, equals, present, prefix, `in`, version, `protocol`, address

  /// What asks something of the header's value.
  static let tests: [CanaryConditionKey] = [.equals, .present, .prefix, .in, .version]
}

enum OverrideKey: String, SectionKey {
  case header, secret, addresses
}
