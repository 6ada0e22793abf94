import Bytes
import CNghttp2

/// Called by the library while it makes frames.
extension HTTP2Session {
  /// How much of a stream goes into the next DATA frame. The bytes themselves are written by ``writeData``, straight
  /// from the stream's buffer.
  func readData(_ id: Int32, room: Int, flags: inout UInt32) -> Int {
    // A stream that was given up here: the library learns of it, too.
    guard let stream = openStream(id) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    let waiting = unsafe stream.output.count &+ lentCount(to: stream)
    if waiting == 0, !stream.hasOutputEnded {
      stream.isDeferred = true
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    let count = Swift.min(waiting, room)
    flags |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
    if count == waiting, stream.hasOutputEnded {
      flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
      if stream.owesTrailers {
        stream.owesTrailers = false
        let trailers = stream.outputTrailers
        flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
        _ = unsafe workspace.layout.withTrailers(trailers) {
          unsafe nghttp2_submit_trailer(handle, stream.number, $0, $1)
        }
      }
    }
    return count
  }

  /// False when the sink is full: the frame is written next time.
  func writeData(_ id: Int32, _ head: UnsafeRawBufferPointer, _ count: Int) -> Bool {
    guard sink.count < sinkLimit else { return false }
    guard let stream = openStream(id), unsafe stream.output.count &+ lentCount(to: stream) >= count else {
      assertionFailure("a frame was announced for bytes that are not there")
      fail(.malformedFrames)
      return true
    }
    sink.reserve(head.count &+ count)
    unsafe sink.append(head)
    let waiting = unsafe Swift.min(count, stream.output.count)
    if waiting > 0 { unsafe stream.output.move(waiting, to: &sink, givingTo: workspace.buffers) }
    if waiting < count { takeLent(count &- waiting) }
    windowUpdates.credit(4)
    // What was lent did not wait.
    guard waiting > 0 || count == 0, unsafe stream.output.isEmpty, !stream.isListedAsDrained else { return true }
    stream.isListedAsDrained = true
    if drained.capacity == 0 { swap(&drained, &workspace.spareList) }
    drained.append(stream)
    return true
  }

  func sent(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = unsafe frame.pointee.hd
    let type = UInt32(head.type)
    switch type {
    case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
      guard UInt32(head.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0, let stream = openStream(head.stream_id)
      else { return }
      stream.isOutputSent = true
      if stream.stopsPeerAtEnd, !stream.isInputWhole { reset(stream, .noError) }
    case NGHTTP2_RST_STREAM.rawValue:
      let code = HTTP2ErrorCode(rawValue: unsafe frame.pointee.rst_stream.error_code)
      sentReset(head.stream_id, code)
    case NGHTTP2_GOAWAY.rawValue:
      let code = HTTP2ErrorCode(rawValue: unsafe frame.pointee.goaway.error_code)
      if code != .noError, let fault = Self.connectionFault(code) { delegate?.session(self, fault: fault) }
    default: break
    }
  }

  /// A reset that the library decided on is the peer's fault. Such resets cost as much as the peer's own.
  private func sentReset(_ id: Int32, _ code: HTTP2ErrorCode) {
    let fault = openStream(id)?.fault
    if ownResets.remove(id) == nil {
      let found = fault.map { HTTP2Fault($0) } ?? Self.streamFault(code)
      openStream(id)?.fault = found.kind
      delegate?.session(self, fault: found)
    } else if fault == nil {
      return
    }
    if role == .server, !resets.admit(settings.bounds.resets, now: now) { fail(.resetFlood) }
  }

  private static func streamFault(_ code: HTTP2ErrorCode) -> HTTP2Fault {
    switch code {
    case .refusedStream: HTTP2Fault(.tooManyStreams)
    case .streamClosed: HTTP2Fault(.closedStream)
    case .flowControlError: HTTP2Fault(.streamFlowControl)
    default: HTTP2Fault(.malformedMessage)
    }
  }

  private static func connectionFault(_ code: HTTP2ErrorCode) -> HTTP2Fault? {
    switch code {
    case .frameSizeError: HTTP2Fault(.frameSize)
    case .flowControlError: HTTP2Fault(.flowControl)
    case .compressionError: HTTP2Fault(.compression)
    default: HTTP2Fault(.malformedFrames)
    }
  }

  /// A request that could not be sent any more, because the peer has gone away meanwhile.
  func notSent(_ frame: UnsafePointer<nghttp2_frame>) {
    let head = unsafe frame.pointee.hd
    guard UInt32(head.type) == NGHTTP2_HEADERS.rawValue, role == .client,
      unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
    else { return }
    closed(head.stream_id, .refusedStream)
  }
}
