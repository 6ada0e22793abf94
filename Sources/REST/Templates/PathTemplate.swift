/// A path template of `google.api.http`, taken apart.
///
/// `/v1/{name=shelves/*/books/*}:publish`: literals, `*` for one segment, `**` for the rest of the path, variables
/// over one or more segments, and a verb after the last colon.
package struct PathTemplate: Sendable, Hashable {
  package enum Segment: Sendable, Hashable {
    case literal(Literal)
    /// `*`: exactly one segment that is not empty.
    case wildcard
    /// `**`: any number of segments, none included; always the last segment.
    case deepWildcard
  }

  package struct Literal: Sendable, Hashable {
    /// As the template spells it, legal in a request target: what goes into an upstream's URL.
    package let text: String
    /// Percent-decoded: what request segments are compared with.
    package let bytes: [UInt8]
  }

  /// A variable.
  package struct Capture: Sendable, Hashable {
    /// Proto names joined by dots: `parcel.id`.
    package let fieldPath: String
    /// The segments that it covers.
    package let segments: Range<Int>
    /// Whether its value may hold slashes; then `%2F` in it stays as it was typed.
    package let isMultiSegment: Bool
    /// Where its field path begins in the template, in characters from 1.
    package let column: Int
  }

  /// As it was written.
  package let text: String
  package let segments: [Segment]
  /// In the order of the template.
  package let captures: [Capture]
  package let verb: Literal?

  /// What tells it from templates that match other paths: names, patterns and spelling of variables aside.
  package struct Shape: Sendable, Hashable {
    private enum Step: Sendable, Hashable {
      case literal([UInt8])
      case wildcard
      case deepWildcard
    }

    private let steps: [Step]
    private let verb: [UInt8]?

    init(_ template: PathTemplate) {
      steps = template.segments.map { segment in
        switch segment {
        case .literal(let literal): .literal(literal.bytes)
        case .wildcard: .wildcard
        case .deepWildcard: .deepWildcard
        }
      }
      verb = template.verb?.bytes
    }
  }

  package var shape: Shape { Shape(self) }

  /// Reads a template.
  ///
  /// - Throws: what is wrong and in which column (google/api/http.proto, "Path template syntax").
  package static func parse(_ text: String) throws(TemplateError) -> PathTemplate {
    var parser = PathTemplateParser(text)
    return try parser.parse()
  }
}

/// Why a text is no path template.
package struct TemplateError: Error, Sendable, Equatable {
  /// In characters from 1.
  package let column: Int
  package let message: String
}
