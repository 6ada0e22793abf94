/// What a route's configuration says about its bindings.
package struct BindingSettings: Sendable, Hashable {
  /// Drops query parameters that name no field (Default: they are refused).
  package var ignoresUnknownQuery: Bool
  /// Names of query parameters that are dropped where they name no field, with `*` for any run of characters.
  package var ignoredQuery: [String]
  /// How the backend spells lists in a query.
  package var lists: QueryLists
  /// The forms in which bodies are read; protobuf is written too where it is listed.
  package var bodyTypes: [BodyType]

  package init(
    ignoresUnknownQuery: Bool = false, ignoredQuery: [String] = [], lists: QueryLists = .repeated,
    bodyTypes: [BodyType] = [.json, .protobuf]
  ) {
    self.lists = lists
    self.ignoresUnknownQuery = ignoresUnknownQuery
    self.ignoredQuery = ignoredQuery
    self.bodyTypes = bodyTypes
  }
}

/// How a list is spelt in a query. A parameter for each element is read in any case.
package enum QueryLists: Sendable, Hashable {
  /// `ids=1&ids=2`, google/api/http.proto.
  case repeated
  /// `ids[]=1&ids[]=2`; with numbers in the brackets too.
  case brackets
  /// `ids=1,2`
  case commas
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
