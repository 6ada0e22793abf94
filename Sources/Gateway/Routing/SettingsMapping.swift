import Configuration
import ProtoJSON
import ProtobufSchema
import REST

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
    case .unix: timestamps = .unix
    case .unixMilliseconds: timestamps = .unixMilliseconds
    }
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
  /// The shape of errors that a route's `errors:` names.
  init(_ format: RouteSettings.ErrorFormat) {
    self =
      switch format {
      case .status: .status
      case .google: .google
      case .problem: .problem
      case .connect: .connect
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
