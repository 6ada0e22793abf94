/// `limits:`: what a peer can make the gateway hold.
package struct LimitsConfiguration: Sendable, Equatable {
  /// Bytes of one message that is translated, compared or retried (Default: 4MiB); beyond: 413 or resource_exhausted.
  package var message = 4 << 20
  /// Bytes of a `google.api.HttpBody` that passes without being held; 0: no bound (Default: that of `message` where the
  /// configuration gives one, else no bound).
  package var raw = 0
  /// Bytes of a request or response head (Default: 32KiB); beyond: 431, for a response 502.
  package var header = 32 << 10
  /// Fields of a head (Default: 128); beyond: 431.
  package var fields = 128
  /// Bytes of the request target (Default: 8KiB); beyond: 414.
  package var target = 8 << 10
  /// Client connections of the whole process (Default: 60000); beyond, accepting pauses.
  package var connections = 60_000
  /// Requests on one client connection (Default: 0, no limit); the last answer says `Connection: close`.
  package var requestsPerConnection = 0
  /// Bytes that all buffered messages together may take (Default: 256MiB); calls beyond get 503.
  package var buffers = 256 << 20
  /// Bytes per second that a request body must arrive with, over its first 5 s and after (Default: 100); 0: no bound.
  package var bodyRate = 100

  package init() {}
}

/// `timeouts:`: how long a peer can keep the gateway waiting.
package struct TimeoutsConfiguration: Sendable, Equatable {
  /// To open a connection to an upstream (Default: 5s).
  package var connect: Duration = .seconds(5)
  /// From a client's connection to the end of its TLS handshake (Default: 10s).
  package var handshake: Duration = .seconds(10)
  /// From the first byte of a request head to its last (Default: 10s).
  package var requestHead: Duration = .seconds(10)
  /// From the head to the end of a request body that is buffered (Default: 60s).
  package var requestBody: Duration = .seconds(60)
  /// A client connection without a request (Default: 75s).
  package var idle: Duration = .seconds(75)
  /// The age at which a client connection is closed after its current answer (Default: 0s, never).
  package var connectionAge: Duration = .zero
  /// A stream or a pass-through body on which nothing moves in either direction (Default: 5m).
  package var streamIdle: Duration = .seconds(300)
  /// An idle upstream connection is closed (Default: 50s).
  package var upstreamIdle: Duration = .seconds(50)

  package init() {}
}
