import Bytes
import Configuration
import HTTP1
import HTTPModel
import RPC

/// A whole request for the other side of a route.
struct WholeRequest {
  let request: UpstreamRequest
  /// Reads the answer; nil where it passes as it is.
  let backend: (any Backend)?
  /// What follows the request piece by piece, since trailers come behind it.
  var streamed: (body: Payload, trailers: FieldBlock)?
}

/// The second question of a call whose route has `fallback:`.
extension Call {
  /// Whether the call goes on after a failure, because the other side is asked now.
  func fallsBack(after error: RPCError) -> Bool {
    guard let fallback, !sentHead, state != .ended else { return false }
    return fallback.turns(after: error)
  }

  /// The request could not be written for the side that is to be asked.
  func failAsking(_ error: RPCError) {
    if fallsBack(after: error) { return }
    fail(fallback?.standing(error) ?? error)
  }

  /// Writes the request for the other side; nothing of the call has changed when it throws.
  func wholeRequest(for upstream: Int) throws(RPCError) -> WholeRequest {
    let wasReplying = isReplying
    isReplying = false
    do throws(RPCError) {
      return try write(for: upstream)
    } catch {
      isReplying = wasReplying
      throw error
    }
  }

  private func write(for upstream: Int) throws(RPCError) -> WholeRequest {
    guard let route = route?.plan else { throw RPCError(.internal, "no route") }
    let configuration = plans.snapshot.upstreams[upstream]
    if try face.agrees(with: configuration.dialect, self) {
      if let limit = exceededRequestLimit { throw tooLarge(limit: limit) }
      let request = PassThrough.request(for: self, to: configuration.protocol, over: configuration.http)
      if request.framing != .none {
        let body = Payload()
        swap(&body.buffer, &requestBody)
        if let trailers = fallback?.trailers {
          request.framing = .chunked
          return WholeRequest(request: request, backend: nil, streamed: (body, trailers))
        }
        request.framing = .length(body.buffer.count)
        request.body = body
      }
      return WholeRequest(request: request, backend: nil)
    }
    let payload = try requestPayload()
    replyCodec = payload.codec
    let backend = Backends.backend(for: route, configuration.dialect)
    let request = worker.takeRequest()
    try backend.encodeRequest(self, payload, into: request)
    if let body = request.body, body.buffer.count > Watermark.high { try claim(body.buffer.count) }
    return WholeRequest(request: request, backend: backend)
  }

  func ask(_ whole: WholeRequest, _ upstream: Int) {
    if let backend = whole.backend {
      answers(through: backend)
      state = .asked
    } else {
      backend = nil
      state = .passing
      if face.kind != .rest { tap = ReplyTap(face: face) }
    }
    start(whole.request, upstream: upstream)
    // It may have failed at once.
    guard let (body, trailers) = whole.streamed, state == .passing, let attempt else { return }
    attempt.send(&body.buffer, body.buffer.count)
    attempt.sendEnd(trailers: trailers)
  }

  /// The rest of the request is gathered for the other side; ``ask()`` follows.
  func gather(for upstream: Int) {
    guard let route = route?.plan else { return }
    answers(through: Backends.backend(for: route, plans.snapshot.upstreams[upstream].dialect))
    state = .gathering
    client?.startReceiving()
    client?.resumeReceiving()
  }

  /// Nothing is left of the first answer.
  func forgetReply() {
    release(replyBody.count)
    worker.discard(&replyBody)
    replyMetadata.removeAll()
    replyTrailers.removeAll()
    tap = nil
    rawReply = nil
    isReplying = false
    isUploading = false
    unknownFields = []
    status = 0
  }
}
