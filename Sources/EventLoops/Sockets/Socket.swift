import Glibc

/// A connected, or connecting, stream socket: owns one descriptor and closes it at its end.
///
/// Nonblocking. Deregister it from its loop before it ends.
public struct Socket: ~Copyable {
  /// What one read or write did.
  public enum Outcome: Equatable, Sendable {
    /// That many bytes were moved.
    case transferred(Int)
    /// Nothing to read, or no room to write: wait for readiness.
    case wouldBlock
    /// The peer ended its direction (reads only).
    case closed
    case failed(SystemError)
  }

  public let descriptor: CInt

  /// Takes over a descriptor.
  public init(owning descriptor: CInt) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Gives the descriptor away; nothing is closed.
  public consuming func release() -> CInt {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  /// Begins a connection. It is made, or has failed, when the socket is writable: then ask ``takeError()``.
  ///
  /// - Throws: what the kernel refuses at once; ``SystemError/isOutOfDescriptors`` tells when there are none left.
  public static func connect(to address: SocketAddress) throws(SystemError) -> Socket {
    let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let made = Socket(owning: try required("socket") { Glibc.socket(address.family, type, 0) })
    made.set(CInt(IPPROTO_TCP), TCP_NODELAY, to: 1)
    let result = address.withKernelForm { pointer, length in
      uninterrupted { Int(Glibc.connect(made.descriptor, pointer, length)) }
    }
    // A connect that a signal cut short goes on by itself; made again it says that it is under way.
    if result < 0 && result != -Int(EINPROGRESS) && result != -Int(EALREADY) && result != -Int(EISCONN) {
      throw SystemError(call: "connect", code: CInt(-result))
    }
    return made
  }

  /// Ends our direction; the peer reads the end after all that was written.
  public func shutdownWriting() {
    _ = shutdown(descriptor, CInt(SHUT_WR))
  }

  /// Has the end of this socket reset the connection, so that the peer cannot take what it got as complete.
  public func resetAtEnd() {
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
  }

  /// The error that is pending at the socket, such as why a connection was not made; takes it away.
  public func takeError() -> SystemError? {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    let result = uninterrupted { Int(getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)) }
    if result < 0 { return SystemError(call: "getsockopt", code: CInt(-result)) }
    return code == 0 ? nil : SystemError(call: "socket", code: code)
  }

  /// Who is at the other end; nil when nobody is.
  var peerAddress: SocketAddress? {
    SocketAddress.filled { getpeername(descriptor, $0, $1) }.address
  }

  public var localAddress: SocketAddress? {
    SocketAddress.filled { getsockname(descriptor, $0, $1) }.address
  }

  /// Sets an option that is a number.
  func set(_ level: CInt, _ option: CInt, to value: CInt) {
    var value = value
    _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
  }
}
