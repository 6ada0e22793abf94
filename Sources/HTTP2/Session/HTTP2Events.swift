package import Bytes

/// What happens on one stream. All is called from inside ``HTTP2Session/receive(_:now:)`` or
/// ``HTTP2Session/send(into:limit:)``; answers may be given at once.
package protocol HTTP2StreamOwner: AnyObject {
  /// A client's stream: an interim answer, or the final one, is in ``HTTP2Stream/response``.
  func streamHead(_ stream: HTTP2Stream)
  /// Body bytes came, which follow those of ``HTTP2Stream/input``. They are lent: what is not used now is appended
  /// there, with ``HTTP2Session/keep(_:for:)``. Nothing may be left of them.
  func stream(_ stream: HTTP2Stream, received bytes: inout ByteBuffer)
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
