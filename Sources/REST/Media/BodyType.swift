import Bytes
import RPC

/// The form of a REST body that is a message: which of them a route reads is configured.
package enum BodyType: String, Sendable, CaseIterable {
  case json
  case protobuf
  /// `application/x-www-form-urlencoded`: requests only.
  case form

  /// What a Content-Type names; nil for anything else.
  package init?(contentType: Span<UInt8>) {
    if MediaType.isJSON(contentType) {
      self = .json
    } else if ProtobufMediaType(contentType) != nil {
      self = .protobuf
    } else if MediaType.matches(contentType, "application/x-www-form-urlencoded") {
      self = .form
    } else {
      return nil
    }
  }

  /// The media type that is asked for, and sent.
  var mediaType: StaticString {
    switch self {
    case .json: "application/json"
    case .protobuf: ProtobufMediaType.x.text
    case .form: "application/x-www-form-urlencoded"
    }
  }
}

/// The names under which protobuf goes over HTTP outside RPC. None was ever registered; all mean the same bytes.
package enum ProtobufMediaType: UInt8, Sendable, CaseIterable {
  /// The usual one.
  case x
  case plain
  case google

  /// A field value that names one of them; parameters do not matter.
  package init?(_ value: Span<UInt8>) {
    guard let known = Self.allCases.first(where: { MediaType.matches(value, $0.text) }) else { return nil }
    self = known
  }

  package var text: StaticString {
    switch self {
    case .x: "application/x-protobuf"
    case .plain: "application/protobuf"
    case .google: "application/vnd.google.protobuf"
    }
  }
}
