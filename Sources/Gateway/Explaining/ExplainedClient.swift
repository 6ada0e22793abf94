import Bytes
import HTTP1
import HTTPModel
import TransportSecurity

/// The client of a request that nobody sent: keeps what it would have been told.
final class ExplainedClient: ClientStream {
  var coveredNames: CertificateNames? { nil }
  private(set) var status = 0
  private(set) var body = ""
  private(set) var isReceiving = false
  /// Who is taken to call.
  let caller: ConnectionOrigin?

  init(caller: ConnectionOrigin? = nil) { self.caller = caller }

  var hasReceivedAll: Bool { true }
  var isCongested: Bool { false }
  func startReceiving() { isReceiving = true }
  func pauseReceiving() {}
  func resumeReceiving() {}
  func sendInterim(_ head: ResponseHead) {}

  func sendHead(status: Int, fields: FieldBlock, framing: BodyFraming, endsCall: Bool) { self.status = status }

  func sendBody(_ buffer: inout ByteBuffer, _ count: Int) {
    buffer.withSpan(0..<count) { body += String(repairing: $0) }
    buffer.consume(count)
  }

  func sendEnd(trailers: FieldBlock?) {}
  func takeOver(reserved bytes: Int) {}
  func becomeTunnel() {}
  func abort() {}
  func callEnded() {}
}
