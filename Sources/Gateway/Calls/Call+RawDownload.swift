import Bytes
import Configuration
import HTTP1
import HTTPModel
import REST
import RPC

/// Raw answers of an RPC upstream, passed on as they come instead of being gathered.
extension Call {
  /// Whether the answer that begins with this head may be passed on before it is whole.
  func expectRawReply(_ head: ResponseHead) {
    guard head.status == 200, let number = face.binding, let route = route?.plan, backend?.carriesBareMessages == true,
      route.settings.successStatus != 204, !head.fields.contains(.contentEncoding),
      let type = head.fields.firstIndex(of: .contentType),
      head.fields.withValue(at: type, { MediaType.matches($0, "application/proto") })
    else { return }
    rawReply = route.bindings[number].rawReply
  }

  /// Looks at what has come of the answer; from the first bytes of its data on it passes.
  func beginRawDownload(_ attempt: Attempt, _ reply: RawReply) {
    var total: Int?
    if case .length(let length) = attempt.declaredFraming { total = length }
    switch replyBody.withSpan(nil, { reply.begin($0, total: total) }) {
    case .needsMore: break
    case .whole: rawReply = nil
    case .data(let data):
      rawReply = nil
      guard data.length > rawThreshold, let head = attempt.head else { return }
      let own = self.route?.plan.settings.limits.response
      guard !exceedsRawLimit(data.length, own) else { return failTooLarge("over limits.raw or limits.response") }
      shadow?.skip(.tooLarge)
      download = RawDownload(reply, data)
      replyMetadata.append(contentsOf: head.fields)
      Metadata.splitTrailers(replyMetadata, into: replyTrailers)
      let answer = worker.answer
      answer.removeAll()
      RESTFace.writeRawHead(self, data.contentType, into: answer)
      // As for what passes through: from here on a standstill ends it, not its length.
      deadline = nil
      state = .passing
      status = answer.status
      sentHead = true
      leaveWithReply(answer.fields)
      client?.sendHead(status: answer.status, fields: answer.fields, framing: .length(data.length), endsCall: false)
      // Taken out: the call may end meanwhile, and gives its buffers back then.
      var begun = ByteBuffer()
      swap(&begun, &replyBody)
      begun.consume(data.start)
      passRaw(&begun, begun.count, attempt)
      worker.discard(&begun)
    }
  }

  /// Takes and consumes bytes of the answer: its data passes, the rest is kept to be checked.
  func passRaw(_ buffer: inout ByteBuffer, _ count: Int, _ attempt: Attempt) {
    guard let download else { return buffer.consume(count) }
    let passing = download.passing(of: count)
    if passing > 0 {
      sentBytes += passing
      client?.sendBody(&buffer, passing)
    }
    guard download.keep(&buffer, count - passing) else { return fail(Self.contradiction) }
    if client?.isCongested == true { attempt.pauseReading() }
  }

  /// The answer is whole.
  func endRawDownload(_ download: RawDownload) {
    guard var last = download.takeLast() else { return fail(Self.contradiction) }
    sentBytes += last.count
    client?.sendBody(&last, last.count)
    client?.sendEnd(trailers: nil)
    finish()
  }

  private static var contradiction: RPCError {
    RPCError(.internal, "the upstream's answer does not fit the schema", httpStatus: 502)
  }
}
