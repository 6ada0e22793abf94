import Bytes
import HTTP1
import HTTPModel
import TransportSecurity

/// The client of a copy: nobody is told anything. It says who the caller of the copied call was.
final class ShadowClient: ClientStream {
  let caller: ConnectionOrigin?
  let identity: ClientIdentity?

  init(of client: any ClientStream) {
    caller = client.caller
    identity = client.identity
  }

  var coveredNames: CertificateNames? { nil }
  var hasReceivedAll: Bool { true }
  var isCongested: Bool { false }
  func startReceiving() {}
  func pauseReceiving() {}
  func resumeReceiving() {}
  func sendInterim(_ head: ResponseHead) {}
  func sendHead(status: Int, fields: FieldBlock, framing: BodyFraming, endsCall: Bool) {}
  func sendBody(_ buffer: inout ByteBuffer, _ count: Int) { buffer.consume(count) }
  func sendEnd(trailers: FieldBlock?) {}
  func takeOver(reserved bytes: Int) {}
  func becomeTunnel() {}
  func abort() {}
  func callEnded() {}
}

extension Call {
  /// A call of the same request that nobody waits for: to translate it another way, and to read answers beside it. It
  /// has a head of its own, since that of the call is changed and used again.
  func detached() -> Call {
    let head = RequestHead()
    head.method = self.head.method
    head.version = self.head.version
    head.target.append(self.head.target)
    head.pathEnd = self.head.pathEnd
    head.authority.append(self.head.authority)
    head.fields.append(contentsOf: self.head.fields)
    let client = client.map { ShadowClient(of: $0) }
    let copy = Call(
      worker: worker, plans: plans, route: route, face: face, client: client, head: head, options: options,
      framing: requestFraming, captures: captures, fallbackUpstream: nil)
    copy.isCopy = true
    copy.forwardedAddress = forwardedAddress
    copy.replyCodec = replyCodec
    return copy
  }
}
