public import Bytes
import Glibc

extension Socket {
  /// Reads once, up to all of the buffer's room.
  ///
  /// A read that fills less than the room has emptied the socket: the caller need not read again to learn that.
  ///
  /// - Parameter room: bytes of room to have at least, above 0.
  public func read(into buffer: inout ByteBuffer, room: Int) -> Outcome {
    let result = buffer.appendWithUnsafeRoom(room) { space in
      uninterrupted { recv(descriptor, space.baseAddress, space.count, 0) }
    }
    if result > 0 { return .transferred(result) }
    return result == 0 ? .closed : failure("recv", result)
  }

  /// Reads once as ``read(into:room:)`` does, and leaves the bytes in the socket.
  public func peek(into buffer: inout ByteBuffer, room: Int) -> Outcome {
    let result = buffer.appendWithUnsafeRoom(room) { space in
      uninterrupted { recv(descriptor, space.baseAddress, space.count, CInt(MSG_PEEK)) }
    }
    if result > 0 { return .transferred(result) }
    return result == 0 ? .closed : failure("recv", result)
  }

  /// Takes bytes out of the socket that ``peek(into:room:)`` has shown.
  public func discard(_ count: Int) -> Outcome {
    // With this flag TCP drops the bytes without copying them (man 7 tcp).
    let result = uninterrupted { recv(descriptor, nil, count, CInt(MSG_TRUNC)) }
    if result > 0 { return .transferred(result) }
    return result == 0 ? .closed : failure("recv", result)
  }

  /// The socket is readable only when so many bytes have come, or the peer has ended its direction.
  public func setReadableFrom(_ bytes: Int) {
    set(SOL_SOCKET, SO_RCVLOWAT, to: CInt(clamping: bytes))
  }

  /// Writes once and consumes what was taken; nothing to write is no system call.
  public func write(from buffer: inout ByteBuffer) -> Outcome {
    if buffer.isEmpty { return .transferred(0) }
    let result = buffer.withUnsafeBytes { bytes in
      uninterrupted { send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
    }
    guard result >= 0 else { return failure("send", result) }
    buffer.consume(result)
    return .transferred(result)
  }

  /// Writes the bytes of two buffers with one system call, and consumes what was taken.
  public func write(from first: inout ByteBuffer, then second: inout ByteBuffer) -> Outcome {
    if second.isEmpty { return write(from: &first) }
    if first.isEmpty { return write(from: &second) }
    let result = first.withUnsafeBytes { head in
      second.withUnsafeBytes { body in gather(head, body) }
    }
    guard result >= 0 else { return failure("sendmsg", result) }
    let ofFirst = Swift.min(result, first.count)
    first.consume(ofFirst)
    second.consume(result - ofFirst)
    return .transferred(result)
  }

  private func gather(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Int {
    var parts = (
      iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count),
      iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count)
    )
    return withUnsafeMutablePointer(to: &parts) { pointer in
      pointer.withMemoryRebound(to: iovec.self, capacity: 2) { parts in
        var message = msghdr()
        message.msg_iov = parts
        message.msg_iovlen = 2
        return uninterrupted { sendmsg(descriptor, &message, CInt(MSG_NOSIGNAL)) }
      }
    }
  }

  private func failure(_ call: String, _ result: Int) -> Outcome {
    if result == -Int(EAGAIN) || result == -Int(EWOULDBLOCK) { return .wouldBlock }
    return .failed(SystemError(call: call, code: CInt(truncatingIfNeeded: -result)))
  }
}
