import Bytes
import HTTPModel

/// What carries one attempt: an HTTP/1.1 connection, which carries one at a time, or a stream of an HTTP/2 connection.
protocol UpstreamExchange: AnyObject {
  /// Whether bytes of the request may be written.
  var isWriting: Bool { get }
  /// Whether more should not be streamed for now.
  var isCongested: Bool { get }
  /// Whether its connection has carried others before.
  var wasReused: Bool { get }

  /// Takes and consumes the first `count` bytes of the buffer.
  func send(_ buffer: inout ByteBuffer, _ count: Int)
  func sendEnd(trailers: FieldBlock?)
  func pauseReading()
  func resumeReading()
  /// The attempt wants no more of it.
  func abandon()
}
