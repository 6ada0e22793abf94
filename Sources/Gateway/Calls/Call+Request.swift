import Bytes
import Compression
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import RPC

/// The way to the upstream: the body as it comes, the message when it is whole, the attempt.
extension Call {
  /// Takes and consumes the first `count` bytes of the buffer.
  func received(_ buffer: inout ByteBuffer, _ count: Int) {
    receivedBytes += count
    switch state {
    case .passing:
      guard let attempt, checkRequestLength(), checkRequestMessages(buffer, count) else {
        return buffer.consume(count)
      }
      shadow?.received(buffer, count)
      fallback?.keep(buffer, count)
      attempt.send(&buffer, count)
      if attempt.isCongested { client?.pauseReceiving() }
    case .relaying: relay?.received(&buffer, count)
    case .asked where isUploading: upload(&buffer, count)
    case .gathering:
      guard requestBody.count + count <= requestLimit else {
        buffer.consume(count)
        fail(tooLarge())
        return
      }
      guard reserve(count) else { return buffer.consume(count) }
      BodyFramer.frame(&buffer, count, as: .none, into: &requestBody)
    case .entering, .waiting, .asked, .ended: buffer.consume(count)
    }
  }

  func receivedEnd(_ trailers: FieldBlock) {
    if !trailers.isEmpty {
      // Some servers add them to the fields of the head.
      plans.snapshot.identityFields?.remove(from: trailers)
      plans.snapshot.guardedNames.clean(trailers, forwarded: true, isTrusted: false)
    }
    fallback?.requestEnded(trailers)
    switch state {
    case .passing:
      attempt?.sendEnd(trailers: trailers.isEmpty ? nil : trailers)
      shadow?.launch(from: self)
    case .relaying: relay?.receivedEnd()
    case .asked where isUploading: attempt?.sendEnd(trailers: nil)
    case .gathering:
      do { try ask() } catch { failAsking(error) }
    case .entering, .waiting, .asked, .ended: break
    }
  }

  /// The request message is whole: reads it, and asks the backend.
  func ask() throws(RPCError) {
    guard let backend, let decision, let index = route?.plan.upstream(of: decision.answering) else { return }
    let payload = try requestPayload()
    if face.request == .connectGet, try face.agrees(with: plans.pool(index).dialect, self) {
      pass(to: index)
      shadow?.launch(from: self, payload)
      return
    }
    if isStreamingRoute, let caller = face.stream, let answering = backend.stream {
      return try relay(caller, answering, to: index, message: payload)
    }
    replyCodec = payload.codec
    let request = worker.takeRequest()
    try backend.encodeRequest(self, payload, into: request)
    if let body = request.body, body.buffer.count > Watermark.high, !reserve(body.buffer.count) { return }
    state = .asked
    start(request, upstream: index)
    shadow?.launch(from: self, payload)
  }

  /// The request message as the face reads it.
  func requestPayload() throws(RPCError) -> Payload {
    let coding = face.readsPlainBody ? try requestCoding() : .identity
    guard coding != .identity, !requestBody.isEmpty else {
      return try requestBody.withSpan { (body) throws(RPCError) in try face.decodeRequest(self, body: body) }
    }
    var plain = ByteBuffer()
    try requestBody.withSpan { (body) throws(RPCError) in try decompress(body, as: coding, into: &plain) }
    return try face.decodeRequest(self, body: plain.span)
  }

  // MARK: Passing through

  func pass(to upstream: Int) {
    if let limit = exceededRequestLimit { return fail(tooLarge(limit: limit)) }
    fallback?.keepHead()
    let pool = plans.pool(upstream)
    let request = PassThrough.request(for: self, to: pool.dialect.protocol, over: pool.dialect.http)
    state = .passing
    if face.kind != .rest { tap = ReplyTap(face: face) }
    start(request, upstream: upstream)
    guard state == .passing else { return }
    client?.startReceiving()
  }

  /// What interceptors and the upstream's own settings make of a request that is about to be sent.
  func prepare(_ request: UpstreamRequest, upstream: Int) {
    if chain.entered > 0 {
      let configuration = plans.snapshot.upstreams[upstream]
      for index in 0..<chain.entered { chain[index].onAttempt(self, request, configuration) }
    }
    plans.snapshot.upstreamHeaders[upstream]?.apply(to: request.fields)
  }

  func start(_ request: UpstreamRequest, upstream: Int) {
    prepare(request, upstream: upstream)
    if let onRequest {
      onRequest(request, plans.snapshot.upstreams[upstream])
      return
    }
    request.isStream = route?.plan.isStreaming ?? true
    request.streamsMessages = isStreamingRoute
    let pool = plans.pool(upstream)
    upstreamName = pool.name
    let attempt: Attempt
    if let fallback {
      attempt = fallback.attempt(request, pool)
    } else {
      attempt = Attempt(
        pool: pool, request: request, owner: self, retries: route?.plan.retries ?? pool.retries, deadline: deadline,
        key: pool.key(of: self))
    }
    self.attempt = attempt
    attemptStartedAt = worker.loop.now
    attempt.start()
  }

  // MARK: Budget

  /// Counts buffered bytes against `limits.buffers`; false when the call was ended because there is no room.
  func reserve(_ bytes: Int) -> Bool {
    do {
      try claim(bytes)
      return true
    } catch {
      fail(error)
      return false
    }
  }

  /// Counts buffered bytes against `limits.buffers`.
  ///
  /// - Throws: `unavailable` when there is no room.
  func claim(_ bytes: Int) throws(RPCError) {
    guard worker.shared.buffers.reserve(bytes, limit: worker.limits.buffers) else {
      lackedRoom = true
      throw RPCError(.unavailable, "too many messages are buffered at this moment", headers: [("retry-after", "1")])
    }
    reserved += bytes
  }

  /// Bytes that were claimed are not held any more.
  func release(_ bytes: Int) {
    worker.shared.buffers.release(bytes)
    reserved -= bytes
  }

  func tooLarge(limit: Int? = nil) -> RPCError {
    RPCError(
      .resourceExhausted, "the message is larger than the limit of \(limit ?? requestMessageLimit) bytes",
      httpStatus: face.kind == .rest ? 413 : nil)
  }
}
