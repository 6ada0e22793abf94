package import HTTPModel

/// What the Connection field of a message, and the fields that go with it, said.
package struct ConnectionOptions: Sendable, Equatable {
  /// `Connection: close`.
  package var close = false
  /// `Connection: keep-alive`.
  package var keepAlive = false
  /// `Connection: upgrade` with `Upgrade: websocket`.
  package var upgradeToWebSocket = false
  /// `TE: trailers`.
  package var acceptsTrailers = false
  /// `Expect: 100-continue`.
  package var expectsContinue = false

  package init() {}
}

/// Whether a connection may be used for another message (RFC 9112 section 9.3).
package struct ConnectionPersistence {
  package static func isPersistent(version: HTTPVersion, options: ConnectionOptions) -> Bool {
    switch version {
    case .http10: options.keepAlive && !options.close
    case .http11: !options.close
    case .http2: true
    }
  }
}
