import Bytes
import HTTP1
import HTTPModel
import RPC

/// A stream whose messages are taken out of one protocol and put into another.
extension Call {
  /// Asks the upstream, and lets the request's messages come.
  ///
  /// - Parameter message: the whole request, where it was gathered.
  func relay(
    _ face: any StreamFace, _ backend: any StreamBackend, to upstream: Int, message: Payload? = nil
  ) throws(RPCError) {
    let request = worker.takeRequest()
    let relay = try StreamRelay(self, face, backend, request, message: message)
    try relay.writeRequest(into: request)
    self.relay = relay
    state = .relaying
    relay.start(request, upstream: upstream)
    guard state == .relaying, message == nil else { return }
    if hasRequestBody { client?.startReceiving() } else if relay.isWaiting { relay.receivedEnd() }
  }

  /// The head of a relayed answer goes out: its messages follow.
  func sendRelayedHead(_ fields: FieldBlock) {
    status = 200
    sentHead = true
    leaveWithReply(fields)
    client?.sendHead(status: 200, fields: fields, framing: .chunked, endsCall: false)
  }

  /// Ends a stream whose answer has begun with an error that its caller can read; false when the bytes that it has got
  /// leave no place for one.
  func endStream(with error: RPCError) -> Bool {
    guard let stream = face.stream, client != nil, stream.tellsErrors(self), mayEndStream(stream) else { return false }
    let answer = worker.answer
    answer.removeAll()
    stream.writeEnd(self, error, into: &answer.body, trailers: answer.trailers)
    sentBytes += answer.body.count
    client?.sendBody(&answer.body, answer.body.count)
    client?.sendEnd(trailers: answer.trailers.isEmpty ? nil : answer.trailers)
    return true
  }

  private func mayEndStream(_ stream: any StreamFace) -> Bool {
    if let relay { return stream.endsAnywhere || relay.isBetweenReplies }
    if case .length = attempt?.declaredFraming { return false }
    guard state == .passing, let tap, tap.isStream else { return false }
    return stream.endsAnywhere || tap.isBetweenMessages
  }
}
