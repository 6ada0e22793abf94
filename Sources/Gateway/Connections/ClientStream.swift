import Bytes
import EventLoops
import HTTP1
import HTTPModel
import TransportSecurity

/// The client's end of one exchange as a call sees it, whatever the HTTP version.
protocol ClientStream: AnyObject {
  /// Who is at the other end; nil when there is nobody.
  var caller: ConnectionOrigin? { get }
  /// Whom the connection's certificate is for, when that limits what may be asked for over it; nil: anything.
  var coveredNames: CertificateNames? { get }
  /// Who the client is by its certificate; nil without one.
  var identity: ClientIdentity? { get }
  /// Whether the request body has been delivered whole.
  var hasReceivedAll: Bool { get }
  /// Whether more should not be sent until ``Call/clientDrained()``.
  var isCongested: Bool { get }

  /// The body may come now; the client is told to go on if it waits for that (`100 Continue`).
  func startReceiving()
  func pauseReceiving()
  func resumeReceiving()

  func sendInterim(_ head: ResponseHead)
  /// - Parameter endsCall: whether nothing more of the request is wanted, so that an unread body ends the connection.
  func sendHead(status: Int, fields: FieldBlock, framing: BodyFraming, endsCall: Bool)
  /// Takes and consumes the first `count` bytes of the buffer.
  func sendBody(_ buffer: inout ByteBuffer, _ count: Int)
  func sendEnd(trailers: FieldBlock?)
  /// A pipe through which the rest of a long body may come, in place of ``sendBody(_:_:)``; nil when it may not. It must
  /// be empty of what others put in, and ``pipeFilled()`` says that there is something in it.
  func pipeForBody() -> SplicePipe?
  func pipeFilled()
  /// Takes over bytes of the budget (`limits.buffers`): they are released when what was sent has left.
  func takeOver(reserved bytes: Int)
  /// From now on bytes pass as they are, both ways.
  func becomeTunnel()
  /// Ends the exchange so that the client sees that the answer is not whole.
  func abort()
  /// The answer that comes will be the connection's last, where connections carry one call after the other.
  func closeAfterAnswer()
  /// The call is over and everything is sent.
  func callEnded()
}

extension ClientStream {
  var identity: ClientIdentity? { nil }
  func pipeForBody() -> SplicePipe? { nil }
  func pipeFilled() {}
  func closeAfterAnswer() {}
}
