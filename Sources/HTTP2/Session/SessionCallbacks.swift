import Bytes
import CNghttp2
import HTTPModel

/// The library's callbacks: each finds the session and hands over.
enum SessionCallbacks {
  private static let failure = CInt(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
  private static let skip = CInt(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)

  private static func session(_ user: UnsafeMutableRawPointer?) -> HTTP2Session? {
    guard let user = unsafe user else { return nil }
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(user).takeUnretainedValue()
  }

  /// 0, or the end of the library's session when the connection was found to be at fault.
  private static func verdict(_ session: HTTP2Session?) -> CInt {
    session?.failure == nil ? 0 : failure
  }

  static func make() -> OpaquePointer? {
    var made: OpaquePointer?
    guard unsafe nghttp2_session_callbacks_new(&made) == 0, let made = unsafe made else { return nil }
    unsafe receiving(made)
    unsafe sending(made)
    return unsafe made
  }

  private static func receiving(_ table: OpaquePointer) {
    unsafe nghttp2_session_callbacks_set_on_begin_frame_callback(table) { (_, head, user) in
      let session = unsafe SessionCallbacks.session(user)
      if let head = unsafe head { unsafe session?.began(head.pointee) }
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(table) { (_, frame, user) in
      let session = unsafe SessionCallbacks.session(user)
      if let frame = unsafe frame { unsafe session?.sectionBegins(frame.pointee) }
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(table) {
      (_, frame, name, nameLength, value, valueLength, _, user) in
      let session = unsafe SessionCallbacks.session(user)
      guard let frame = unsafe frame, let name = unsafe name, let value = unsafe value else { return 0 }
      unsafe session?.field(
        frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameLength),
        UnsafeRawBufferPointer(start: value, count: valueLength))
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(table) {
      (_, frame, name, nameLength, _, _, _, user) in
      let session = unsafe SessionCallbacks.session(user)
      guard let frame = unsafe frame, let name = unsafe name else { return 0 }
      unsafe session?.invalidField(
        frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameLength))
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) {
      (_, _, stream, bytes, count, user) in
      let session = unsafe SessionCallbacks.session(user)
      if let bytes = unsafe bytes { unsafe session?.data(stream, UnsafeRawBufferPointer(start: bytes, count: count)) }
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(table) { (_, frame, user) in
      let session = unsafe SessionCallbacks.session(user)
      if let frame = unsafe frame { unsafe session?.received(frame.pointee) }
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(table) { (_, stream, code, user) in
      unsafe SessionCallbacks.session(user)?.closed(stream, HTTP2ErrorCode(rawValue: code))
      // Never the end of the session here: the library is in the middle of taking the stream out.
      return 0
    }
  }

  private static func sending(_ table: OpaquePointer) {
    unsafe nghttp2_session_callbacks_set_on_frame_send_callback(table) { (_, frame, user) in
      let session = unsafe SessionCallbacks.session(user)
      if let frame = unsafe frame { unsafe session?.sent(frame.pointee) }
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(table) { (_, frame, _, user) in
      let session = unsafe SessionCallbacks.session(user)
      if let frame = unsafe frame { unsafe session?.notSent(frame.pointee) }
      return SessionCallbacks.verdict(session)
    }
    unsafe nghttp2_session_callbacks_set_send_data_callback(table) { (_, frame, head, count, _, user) in
      let session = unsafe SessionCallbacks.session(user)
      guard let session, let frame = unsafe frame, let head = unsafe head else { return SessionCallbacks.failure }
      guard
        unsafe session.writeData(frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: head, count: 9), count)
      else { return CInt(NGHTTP2_ERR_WOULDBLOCK.rawValue) }
      return SessionCallbacks.verdict(session)
    }
  }

  /// The source of a stream's body bytes; the stream is found by its number.
  static var provider: nghttp2_data_provider {
    unsafe nghttp2_data_provider(
      source: nghttp2_data_source(ptr: nil),
      read_callback: { (_, id, _, room, flags, _, user) in
        guard let session = unsafe SessionCallbacks.session(user), let flags = unsafe flags else {
          return Int(SessionCallbacks.failure)
        }
        return unsafe session.readData(id, room: room, flags: &flags.pointee)
      })
  }
}
