public import HTTPModel

/// What the Connection field of a message, and the fields that go with it, said.
public struct ConnectionOptions: Sendable, Equatable {
  /// `Connection: close`.
  public var close = false
  /// `Connection: keep-alive`.
  public var keepAlive = false
  /// `Connection: upgrade` with `Upgrade: websocket`.
  public var upgradeToWebSocket = false
  /// `TE: trailers`.
  public var acceptsTrailers = false
  /// `Expect: 100-continue`.
  public var expectsContinue = false

  public init() {}
}

/// Whether a connection may be used for another message (RFC 9112 section 9.3).
public struct ConnectionPersistence {
  public static func isPersistent(version: HTTPVersion, options: ConnectionOptions) -> Bool {
    switch version {
    case .http10: options.keepAlive && !options.close
    case .http11: !options.close
    case .http2: true
    }
  }
}
