import Configuration
import ProtoJSON
import ProtobufSchema
import REST
import RPC

extension JSONProfile {
  /// The profile that a route's `json:` describes.
  init(_ settings: JSONSettings) {
    self = .standard
    emitDefaults = settings.emitDefaults
    protoFieldNames = settings.fieldNames == .proto
    int64AsNumber = settings.int64 == .number
    enumsAsNumbers = settings.enums == .number
    stripEnumPrefix = settings.enumPrefix == .strip
    lowerCaseEnums = settings.enumCase == .lower
    unsetAsNull = settings.unset == .null
    switch settings.timestamps {
    case .rfc3339: timestamps = .rfc3339
    case .rfc3339Milliseconds: timestamps = .rfc3339Milliseconds
    case .local: timestamps = .local
    case .sql: timestamps = .sql
    case .unix: timestamps = .unix
    case .unixMilliseconds: timestamps = .unixMilliseconds
    }
    isLenient = settings.reading == .lenient
    switch settings.unknownFields {
    case .reject: unknownFields = .reject
    case .ignore: unknownFields = .ignore
    case .report: unknownFields = .report
    }
  }
}

extension HTTPRule {
  /// A rule from the configuration, in the form of an annotation.
  init(_ rule: HTTPRuleConfiguration) {
    self.init(
      method: rule.method, path: rule.path, body: rule.body, responseBody: rule.responseBody,
      additionalBindings: rule.additionalBindings.map { HTTPRule($0) })
  }
}

extension ErrorFormat {
  /// The shape of errors that a route's `errors:` names or spells out.
  init(_ errors: ErrorSettings) {
    if let body = errors.body {
      var template = ErrorTemplate()
      template.append(body)
      template.shape = ErrorTemplate.Shape(body)
      self = .template(template)
      return
    }
    self =
      switch errors.format {
      case .status: .status
      case .google: .google
      case .problem: .problem
      case .connect: .connect
      }
  }
}

extension ErrorTemplate {
  fileprivate mutating func append(_ body: ErrorSettings.Body) {
    switch body {
    case .literal(let json): append(json: json)
    case .value(let placeholder): append(Slot(placeholder))
    case .text(let fragments):
      append(json: "\"")
      for fragment in fragments {
        switch fragment {
        case .text(let text): append(partOfText: text)
        case .placeholder(let placeholder): append(partOfText: Slot(placeholder))
        }
      }
      append(json: "\"")
    case .list(let elements):
      append(json: "[")
      for (index, element) in elements.enumerated() {
        if index > 0 { append(json: ",") }
        append(element)
      }
      append(json: "]")
    case .object(let members):
      append(json: "{")
      for (index, member) in members.enumerated() {
        if index > 0 { append(json: ",") }
        append(text: member.name)
        append(json: ":")
        append(member.value)
      }
      append(json: "}")
    }
  }
}

extension ErrorTemplate.Slot {
  fileprivate init(_ placeholder: ErrorSettings.Placeholder) {
    self =
      switch placeholder {
      case .code: .code
      case .upperCaseCode: .upperCaseCode
      case .number: .number
      case .status: .status
      case .message: .message
      case .details: .details
      case .reason: .reason
      }
  }
}

extension ErrorTemplate.Shape {
  /// Where a body of the configuration has its places.
  fileprivate init(_ body: ErrorSettings.Body) {
    switch body {
    case .literal: self = .any
    case .value(let placeholder): self = .place(before: "", ErrorTemplate.Slot(placeholder), after: "")
    case .text(let fragments): self.init(fragments)
    case .list(let elements): self = .list(elements.map { ErrorTemplate.Shape($0) })
    case .object(let members): self = .object(members.map { Member($0.name, ErrorTemplate.Shape($0.value)) })
    }
  }

  private init(_ fragments: [ErrorSettings.Body.Fragment]) {
    var found: [ErrorSettings.Placeholder] = []
    var (before, after) = ("", "")
    for fragment in fragments {
      switch fragment {
      case .placeholder(let placeholder): found.append(placeholder)
      case .text(let text): if found.isEmpty { before += text } else { after += text }
      }
    }
    if found.count == 1 {
      self = .place(before: before, ErrorTemplate.Slot(found[0]), after: after)
    } else {
      // What of such a text is which nobody knows.
      self = found.contains(.message) ? .place(before: "", .message, after: "") : .any
    }
  }
}

extension SuccessErrors {
  /// What a route's `errors: { in_success: … }` says; nil for none.
  init?(_ settings: ErrorSettings.InSuccess?) {
    guard let settings else { return nil }
    let test: Test =
      switch settings.test {
      case .present: .present
      case .equals(let values): .equals(values)
      case .not(let values): .not(values)
      }
    self.init(member: settings.member, test: test, code: Code(name: settings.code.rawValue) ?? .unknown)
  }
}

extension QueryLists {
  /// How a route's `query: { lists: … }` spells them.
  init(_ word: RouteSettings.Query.Lists) {
    self =
      switch word {
      case .repeated: .repeated
      case .brackets: .brackets
      case .commas: .commas
      }
  }
}

extension StreamForm {
  /// The form of streams that a route's `stream:` names.
  init(_ form: RouteSettings.StreamForm) {
    self =
      switch form {
      case .ndjson: .ndjson
      case .array: .array
      case .sse: .sse
      }
  }
}

extension EventFields {
  /// The fields of a message that a route's `events:` names; those that it lacks are left out.
  init(_ settings: RouteSettings.Events, in schema: Schema, message: Int) {
    self.init()
    event = settings.event.flatMap { Self.index(of: $0.name, in: schema, message: message) }
    id = settings.id.flatMap { Self.index(of: $0.name, in: schema, message: message) }
  }
}

extension BodyType {
  /// The form of bodies that a word of a route's `body_types:` means.
  init(_ word: RouteSettings.BodyType) {
    self =
      switch word {
      case .json: .json
      case .protobuf: .protobuf
      case .form: .form
      }
  }
}
