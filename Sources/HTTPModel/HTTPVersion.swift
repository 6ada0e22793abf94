/// The protocol version of a message.
public enum HTTPVersion: UInt8, Sendable {
  case http10
  case http11
  case http2

  /// As access logs spell it.
  public var name: String {
    switch self {
    case .http10: "HTTP/1.0"
    case .http11: "HTTP/1.1"
    case .http2: "HTTP/2"
    }
  }
}
