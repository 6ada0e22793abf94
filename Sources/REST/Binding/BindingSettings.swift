/// What a route's configuration says about its bindings.
package struct BindingSettings: Sendable, Hashable {
  /// Drops query parameters that name no field (Default: they are refused).
  package var ignoresUnknownQuery: Bool
  /// Names of query parameters that are dropped where they name no field, with `*` for any run of characters.
  package var ignoredQuery: [String]
  /// The forms in which bodies are read; protobuf is written too where it is listed.
  package var bodyTypes: [BodyType]

  package init(
    ignoresUnknownQuery: Bool = false, ignoredQuery: [String] = [], bodyTypes: [BodyType] = [.json, .protobuf]
  ) {
    self.ignoresUnknownQuery = ignoresUnknownQuery
    self.ignoredQuery = ignoredQuery
    self.bodyTypes = bodyTypes
  }
}

/// Why an HTTP rule does not fit its method.
package struct BindingError: Error, Sendable, Equatable {
  /// The part of a rule that is wrong.
  package enum Part: Sendable {
    case method, template, body, responseBody
  }

  package let message: String
  /// In the path template, in characters from 1; nil when the fault is not in the template.
  package let column: Int?
  package let part: Part

  init(_ message: String, column: Int? = nil, part: Part = .template) {
    self.message = message
    self.column = column
    self.part = part
  }
}
