package import Bytes
import CNghttp2
package import HTTPModel

/// What this side does on its streams. Nothing leaves before ``HTTP2Session/send(into:limit:)``, and no owner is called
/// before it; on a stream that is over all of it does nothing.
extension HTTP2Session {
  /// The final head of an answer.
  ///
  /// - Parameters:
  ///   - contentLength: for the Content-Length field; nil writes none.
  ///   - hasBody: whether more follows: body bytes, trailers, the end.
  package func respond(
    _ stream: HTTP2Stream, status: Int, fields: FieldBlock, contentLength: Int?, hasBody: Bool
  ) {
    guard isUsable(stream) else { return }
    let result = unsafe workspace.layout.withResponse(status: status, fields: fields, contentLength: contentLength) {
      (pointer, count) in
      guard hasBody else { return unsafe nghttp2_submit_response(handle, stream.number, pointer, count, nil) }
      var provider = unsafe SessionCallbacks.provider
      return unsafe nghttp2_submit_response(handle, stream.number, pointer, count, &provider)
    }
    if !hasBody { stream.hasOutputEnded = true }
    if result != 0 { reset(stream, .internalError) }
  }

  /// An interim answer.
  package func respond(_ stream: HTTP2Stream, interim status: Int, fields: FieldBlock) {
    guard isUsable(stream) else { return }
    _ = unsafe workspace.layout.withResponse(status: status, fields: fields, contentLength: nil) { (pointer, count) in
      unsafe nghttp2_submit_headers(
        handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.number, nil, pointer, count, nil)
    }
  }

  /// Sends a request on a stream of its own.
  ///
  /// - Returns: nil when the connection takes no more.
  package func request(
    _ head: borrowing HTTP2RequestLine, fields: FieldBlock, contentLength: Int?, hasBody: Bool,
    owner: any HTTP2StreamOwner
  ) -> HTTP2Stream? {
    guard ownFault == nil, !hasSaidGoAway, !peerGoesAway else { return nil }
    let stream = workspace.takeStream()
    stream.section = .response
    let id = unsafe workspace.layout.withRequest(head, fields: fields, contentLength: contentLength) {
      (pointer, count) in
      guard hasBody else { return unsafe nghttp2_submit_request(handle, nil, pointer, count, nil, nil) }
      var provider = unsafe SessionCallbacks.provider
      return unsafe nghttp2_submit_request(handle, nil, pointer, count, &provider, nil)
    }
    guard id > 0 else { return nil }
    stream.number = id
    stream.holder = owner
    stream.hasOutputEnded = !hasBody
    streams.insert(stream)
    return stream
  }

  /// Sends body bytes: takes and consumes the first `count` of the buffer.
  package func send(_ buffer: inout ByteBuffer, _ count: Int, on stream: HTTP2Stream) {
    guard isUsable(stream), !stream.hasOutputEnded else {
      buffer.consume(count)
      return
    }
    unsafe stream.output.append(&buffer, count, from: workspace.buffers)
    resume(stream)
  }

  /// Ends this side's direction, with trailers if there are any; they are read when all output has been sent.
  package func end(_ stream: HTTP2Stream, trailers: FieldBlock?) {
    guard isUsable(stream), !stream.hasOutputEnded else { return }
    stream.hasOutputEnded = true
    if let trailers, !trailers.isEmpty {
      stream.outputTrailers.append(contentsOf: trailers)
      stream.owesTrailers = true
    }
    resume(stream)
  }

  func resume(_ stream: HTTP2Stream) {
    guard stream.isDeferred else { return }
    stream.isDeferred = false
    _ = unsafe nghttp2_session_resume_data(handle, stream.number)
  }

  /// Ends a stream at once.
  package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
    guard isUsable(stream) else { return }
    ownResets.insert(stream.number)
    _ = unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.number, code.rawValue)
  }

  /// Once this side's direction has ended the peer is told that the rest of its own is not wanted (RFC 9113 section
  /// 8.1: RST_STREAM with NO_ERROR).
  package func stopPeerAtEnd(of stream: HTTP2Stream) {
    guard isUsable(stream), !stream.isInputWhole else { return }
    if stream.isOutputSent { reset(stream, .noError) } else { stream.stopsPeerAtEnd = true }
  }

  /// Body bytes were forwarded: the peer may send so many more on this stream.
  package func credit(_ stream: HTTP2Stream, _ bytes: Int) {
    guard isUsable(stream), bytes > 0 else { return }
    _ = unsafe nghttp2_session_consume_stream(handle, stream.number, bytes)
  }

  /// How many streams the peer takes at the same time.
  package var peerMaximumStreams: Int {
    Int(clamping: unsafe nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  func isUsable(_ stream: HTTP2Stream) -> Bool { ownFault == nil && !stream.isOver }
}
