package import Bytes
package import HTTPModel

/// One request and its answer on a connection, as the session keeps it: heads, trailers, and the body bytes that wait
/// on the way in and on the way out.
///
/// The session holds it until it is closed. What it holds is bounded: on the way in by the stream's window, on the way
/// out by its owner, who looks at ``HTTP2Stream/output``.
package final class HTTP2Stream {
  package internal(set) var id: Int32 = 0
  /// Filled by a server's session.
  package private(set) lazy var request = RequestHead()
  /// Filled by a client's session: an interim head first, if there is one, then the final one.
  package private(set) lazy var response = ResponseHead()
  /// The trailer section of the peer; without what may not stand there.
  package private(set) lazy var trailers = FieldBlock()
  /// What the peer's Content-Length says; the field itself is left out of the head.
  package internal(set) var contentLength: Int?
  /// Whether the peer has ended its direction, in order.
  package internal(set) var hasReceivedEnd = false
  /// Body bytes that came and were not taken. Whoever consumes some returns their credit with
  /// ``HTTP2Session/credit(_:_:)``.
  package var input = ByteBuffer()
  /// Body bytes that are not sent. Its memory may be taken when it is empty.
  package var output = ByteBuffer()
  /// Whether the stream is over: nothing can be sent.
  package internal(set) var isClosed = false
  package var owner: (any HTTP2StreamOwner)?

  // What the session keeps.
  enum Section {
    case request
    case response
    case trailers
  }
  var section = Section.request
  var fieldBytes = 0
  var fieldCount = 0
  /// The first thing that is wrong with the section that comes.
  var fault: HTTP2Fault.Kind?
  var cookies = ByteBuffer()
  var receivedBytes = 0
  var hasFinalHead = false

  var hasOutputEnded = false
  var outputTrailers: FieldBlock?
  /// Whether the session waits to be told of more output.
  var isDeferred = false
  /// Whether END_STREAM was handed to the peer.
  package internal(set) var hasSentEnd = false
  var isListedAsDrained = false
  /// The peer need not go on once our direction has ended.
  var stopsPeerAtEnd = false

  init() {}

  /// Whether what the peer sent was refused.
  package var isFaulty: Bool { fault != nil }

  /// Whether ``HTTP2Session/end(_:trailers:)`` was called.
  package var hasEnded: Bool { hasOutputEnded }
}

/// What happens on one stream. All is called from inside ``HTTP2Session/receive(_:now:)`` or
/// ``HTTP2Session/send(into:limit:)``; answers may be given at once.
package protocol HTTP2StreamOwner: AnyObject {
  /// A client's stream: an interim answer, or the final one, is in ``HTTP2Stream/response``.
  func streamHead(_ stream: HTTP2Stream)
  /// So many bytes were added to ``HTTP2Stream/input``.
  func stream(_ stream: HTTP2Stream, received bytes: Int)
  /// The peer has ended its direction in order.
  func streamEnded(_ stream: HTTP2Stream)
  /// All output has been handed to the connection.
  func streamDrained(_ stream: HTTP2Stream)
  /// The stream is over, in order or not; nothing more comes.
  func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode)
}

/// What happens on a connection, or before a stream has an owner.
package protocol HTTP2SessionDelegate: AnyObject {
  /// A server's session: a request head is whole and in order. Set the stream's owner, or nobody hears of the rest.
  func session(_ session: HTTP2Session, opened stream: HTTP2Stream)
  /// A server's session: the request is to be answered with the fault's status.
  func session(_ session: HTTP2Session, refused stream: HTTP2Stream, _ fault: HTTP2Fault)
  /// The peer did something wrong; what follows from it has been done. For counting.
  func session(_ session: HTTP2Session, fault: HTTP2Fault)
  /// The peer takes no more streams.
  func sessionGoesAway(_ session: HTTP2Session, _ code: HTTP2ErrorCode)
  /// The peer's settings came: its limit of streams may have changed.
  func sessionSettingsChanged(_ session: HTTP2Session)
  /// A stream is over; there is room for another.
  func sessionStreamClosed(_ session: HTTP2Session)
}
