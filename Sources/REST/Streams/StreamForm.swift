package import HTTPModel

/// How a stream of messages is written for a REST caller. What each looks like is in ``StreamWriter``.
package enum StreamForm: String, Sendable, CaseIterable {
  /// A JSON value a line.
  case ndjson
  /// One JSON array, its elements written as they come (the form that Envoy writes).
  case array
  /// Server-sent events (WHATWG HTML, section 9.2), for browsers' EventSource.
  case sse

  /// What a caller gets, and under which name.
  package struct Choice: Sendable, Equatable {
    package var form: StreamForm
    /// `application/x-ndjson` and `application/jsonl` name one form: the caller gets the name it asked for.
    package var contentType: String

    init(_ form: StreamForm, as contentType: StaticString) {
      self.form = form
      self.contentType = "\(contentType)"
    }
  }

  /// The names of the form in `Accept`, that of the answers first.
  var contentTypes: [StaticString] {
    switch self {
    case .ndjson: ["application/x-ndjson", "application/jsonl", "application/ndjson"]
    case .array: ["application/json"]
    case .sse: ["text/event-stream"]
    }
  }

  /// Chooses a form by the caller's `Accept` (RFC 9110 section 12.5.1).
  ///
  /// The greatest weight wins; among equals a type that is named wins over one that a range covers, then the route's
  /// own form. A caller who accepts none of the forms, or does not say, gets the route's own: an error would help
  /// nobody, and clients send `Accept: text/html` without thought.
  ///
  /// - Parameter own: the route's form.
  package static func choose(_ request: FieldBlock, own: StreamForm) -> Choice {
    let accepted = AcceptedTypes(request)
    var best: (choice: Choice, rank: AcceptedTypes.Rank)?
    for form in [own] + allCases {
      for type in form.contentTypes {
        guard let rank = accepted.rank(of: type), rank.weight > 0 else { continue }
        if let best, !(best.rank < rank) { continue }
        best = (Choice(form, as: type), rank)
      }
    }
    return best?.choice ?? Choice(own, as: own.contentTypes[0])
  }
}
