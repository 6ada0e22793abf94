/// The kinds of mappings that make an HTTP rule: in our files, and in google.api.Service files.
struct RuleSections: Sendable {
  let rule: Section<RuleKey>
  let additional: Section<RuleKey>
  let custom: Section<CustomRuleKey>

  static let own = RuleSections(rule: Sections.rule, additional: Sections.additionalRule, custom: Sections.customRule)
  static let foreign = RuleSections(
    rule: Section("an HTTP rule", isForeign: true),
    additional: Section(
      "an additional binding", keys: RuleKey.ofBinding,
      hints: Sections.nestedHints.merging(["selector": .misplaced("the selector of the rule around it counts")]) { $1 },
      isForeign: true),
    custom: Section("a custom HTTP rule", isForeign: true))
}

extension Sections {
  static let rule = Section<RuleKey>(
    "an HTTP rule", keys: RuleKey.ofBinding + [.additionalBindings],
    hints: ["selector": .misplaced("the method's name under `methods:` is the selector")])
  static let additionalRule = Section<RuleKey>(
    "an additional binding", keys: RuleKey.ofBinding, hints: nestedHints)
  static let customRule = Section<CustomRuleKey>("a custom HTTP rule")

  fileprivate static let nestedHints: [String: KeyHint] = [
    "additional_bindings": .misplaced("bindings nest one level deep; write it beside the others")
  ]

  /// A file of google.api.Service: only `http` says something here, the rest is other programs'.
  static let serviceConfig = Section<ServiceConfigKey>("a service configuration", isForeign: true)
  static let serviceConfigHTTP = Section<ServiceConfigHTTPKey>("the HTTP rules", isForeign: true)
}

enum RuleKey: String, SectionKey {
  /// Of a google.api.Service file only.
  case selector
  case get, put, post, delete, patch, custom, body
  case responseBody = "response_body"
  case additionalBindings = "additional_bindings"

  /// The verbs, each with a path.
  static let verbs: [RuleKey] = [.get, .put, .post, .delete, .patch]
  /// What each binding has.
  static let ofBinding: [RuleKey] = allCases.filter { $0 != .selector && $0 != .additionalBindings }
}

enum CustomRuleKey: String, SectionKey {
  case kind, path
}

/// The fields of google.api.Service (google/api/service.proto), and `type`, which names the message.
enum ServiceConfigKey: String, SectionKey {
  case type, name, title, id, apis, types, enums, documentation, backend, http, quota, authentication, context, usage
  case endpoints, control, logs, metrics, billing, logging, monitoring, publishing, aspects, features
  case configVersion = "config_version"
  case producerProjectID = "producer_project_id"
  case monitoredResources = "monitored_resources"
  case systemParameters = "system_parameters"
  case systemTypes = "system_types"
  case sourceInfo = "source_info"
}

enum ServiceConfigHTTPKey: String, SectionKey {
  case rules
  case fullyDecodeReservedExpansion = "fully_decode_reserved_expansion"
}
