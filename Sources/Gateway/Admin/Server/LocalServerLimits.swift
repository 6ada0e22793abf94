import HTTP1

/// What a peer of a ``LocalServer`` can make it hold, and how long it can keep it waiting.
package struct LocalServerLimits: Sendable, Equatable {
  /// Connections at a time. Beyond, the one that has said nothing for the longest time makes room; while all are being
  /// answered, more wait in the kernel until one is over.
  package var connections = 256
  /// Bytes of a request head; beyond: 431.
  package var head = 16 << 10
  /// Bytes of a request body; beyond: 413.
  package var body = 64 << 10
  /// Without a request on a connection.
  package var idle: Duration = .seconds(60)
  /// From the first byte of a head to the end of the body.
  package var request: Duration = .seconds(10)
  /// For the client to take an answer.
  package var response: Duration = .seconds(30)

  package init() {}

  var headLimits: HeadLimits {
    HeadLimits(maximumBytes: head, maximumFields: 64, maximumTarget: min(head, 8 << 10))
  }
}
