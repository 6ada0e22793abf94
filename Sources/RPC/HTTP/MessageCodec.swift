import Bytes

/// How a message is written in a body: Connect's codecs.
public enum MessageCodec: String, Sendable, CaseIterable {
  case proto
  case json

  /// The codec of this name, in lower case as the protocol spells it; nil for any other.
  public init?(name: Span<UInt8>) {
    if ASCII.equal(name, "proto") {
      self = .proto
    } else if ASCII.equal(name, "json") {
      self = .json
    } else {
      return nil
    }
  }

  /// As in a Content-Type and in the query of a GET.
  public var name: StaticString {
    switch self {
    case .proto: "proto"
    case .json: "json"
    }
  }

  /// The Content-Type of a unary body.
  public var unaryContentType: StaticString {
    switch self {
    case .proto: "application/proto"
    case .json: "application/json"
    }
  }

  /// The Content-Type of a stream of envelopes.
  public var streamingContentType: StaticString {
    switch self {
    case .proto: "application/connect+proto"
    case .json: "application/connect+json"
    }
  }
}
