import Bytes
import CNghttp2
import HTTPModel

/// The library's callbacks: each finds the session and hands over.
enum SessionCallbacks {
  private static let failure = CInt(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)

  /// Calls the body with the session. It is held by whoever called the library, so it is not counted here.
  ///
  /// - Returns: what the body does, else 0, or the end of the library's session when the connection is at fault.
  @inline(__always)
  private static func with(_ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> CInt) -> CInt {
    guard let user = unsafe user else { return failure }
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(user)._withUnsafeGuaranteedRef { session in
      let result = body(session)
      return result != 0 || session.ownFault == nil ? result : failure
    }
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
      unsafe SessionCallbacks.with(user) { session in
        if let head = unsafe head { unsafe session.began(head.pointee) }
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(table) { (_, frame, user) in
      unsafe SessionCallbacks.with(user) { session in
        if let frame = unsafe frame { unsafe session.sectionBegins(frame) }
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(table) {
      (_, frame, name, nameLength, value, valueLength, _, user) in
      unsafe SessionCallbacks.with(user) { session in
        guard let frame = unsafe frame, let name = unsafe name, let value = unsafe value else { return 0 }
        unsafe session.field(
          frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameLength),
          UnsafeRawBufferPointer(start: value, count: valueLength))
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(table) {
      (_, frame, name, nameLength, _, _, _, user) in
      unsafe SessionCallbacks.with(user) { session in
        guard let frame = unsafe frame, let name = unsafe name else { return 0 }
        unsafe session.invalidField(
          frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: name, count: nameLength))
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) {
      (_, _, stream, bytes, count, user) in
      unsafe SessionCallbacks.with(user) { session in
        if let bytes = unsafe bytes { unsafe session.data(stream, UnsafeRawBufferPointer(start: bytes, count: count)) }
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(table) { (_, frame, user) in
      unsafe SessionCallbacks.with(user) { session in
        if let frame = unsafe frame { unsafe session.received(frame) }
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(table) { (_, stream, code, user) in
      _ = unsafe SessionCallbacks.with(user) { session in
        session.closed(stream, HTTP2ErrorCode(rawValue: code))
        return 0
      }
      // Never the end of the session here: the library is in the middle of taking the stream out.
      return 0
    }
  }

  private static func sending(_ table: OpaquePointer) {
    unsafe nghttp2_session_callbacks_set_on_frame_send_callback(table) { (_, frame, user) in
      unsafe SessionCallbacks.with(user) { session in
        if let frame = unsafe frame { unsafe session.sent(frame) }
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(table) { (_, frame, _, user) in
      unsafe SessionCallbacks.with(user) { session in
        if let frame = unsafe frame { unsafe session.notSent(frame) }
        return 0
      }
    }
    unsafe nghttp2_session_callbacks_set_send_data_callback(table) { (_, frame, head, count, _, user) in
      unsafe SessionCallbacks.with(user) { session in
        guard let frame = unsafe frame, let head = unsafe head else { return SessionCallbacks.failure }
        let written = unsafe session.writeData(
          frame.pointee.hd.stream_id, UnsafeRawBufferPointer(start: head, count: 9), count)
        return written ? 0 : CInt(NGHTTP2_ERR_WOULDBLOCK.rawValue)
      }
    }
  }

  /// The source of a stream's body bytes; the stream is found by its number.
  static var provider: nghttp2_data_provider {
    unsafe nghttp2_data_provider(
      source: nghttp2_data_source(ptr: nil),
      read_callback: { (_, id, _, room, flags, _, user) in
        guard let user = unsafe user, let flags = unsafe flags else { return Int(SessionCallbacks.failure) }
        return unsafe Unmanaged<HTTP2Session>.fromOpaque(user)._withUnsafeGuaranteedRef { session in
          unsafe session.readData(id, room: room, flags: &flags.pointee)
        }
      })
  }
}
