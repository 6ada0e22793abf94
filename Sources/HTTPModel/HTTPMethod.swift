import Bytes

/// A request method (RFC 9110 section 9); names are case-sensitive.
public enum HTTPMethod: Hashable, Sendable {
  case get
  case head
  case post
  case put
  case patch
  case delete
  case options
  case trace
  case connect
  case other(String)

  public init(_ token: Span<UInt8>) {
    switch token.count {
    case 3 where ASCII.equal(token, "GET"): self = .get
    case 3 where ASCII.equal(token, "PUT"): self = .put
    case 4 where ASCII.equal(token, "POST"): self = .post
    case 4 where ASCII.equal(token, "HEAD"): self = .head
    case 5 where ASCII.equal(token, "PATCH"): self = .patch
    case 5 where ASCII.equal(token, "TRACE"): self = .trace
    case 6 where ASCII.equal(token, "DELETE"): self = .delete
    case 7 where ASCII.equal(token, "OPTIONS"): self = .options
    case 7 where ASCII.equal(token, "CONNECT"): self = .connect
    default: self = .other(String(repairing: token))
    }
  }

  public init(_ name: String) {
    self.init(Array(name.utf8).span)
  }

  public var name: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .patch: "PATCH"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .trace: "TRACE"
    case .connect: "CONNECT"
    case .other(let name): name
    }
  }

  /// Written out: what the compiler would make is called through a table from other modules.
  public static func == (left: HTTPMethod, right: HTTPMethod) -> Bool {
    switch (left, right) {
    case (.get, .get), (.head, .head), (.post, .post), (.put, .put), (.patch, .patch), (.delete, .delete),
      (.options, .options), (.trace, .trace), (.connect, .connect):
      true
    case (.other(let left), .other(let right)): left == right
    default: false
    }
  }

  /// Safe methods change nothing at the server (RFC 9110 section 9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace: true
    default: false
    }
  }

  /// Idempotent methods may be sent twice (RFC 9110 section 9.2.2).
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
