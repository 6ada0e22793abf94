import Glibc

extension Socket {
  /// Begins a connection to a socket of this machine by its path (unix(7)); otherwise as ``connect(to:)``.
  ///
  /// - Parameter path: 1 to 107 bytes.
  public static func connect(toPath path: String) throws(SystemError) -> Socket {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0), !bytes.isEmpty else {
      throw SystemError(call: "connect", code: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let made = Socket(owning: try required("socket") { socket(AF_UNIX, type, 0) })
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        uninterrupted {
          Int(Glibc.connect(made.descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)))
        }
      }
    }
    // EAGAIN: the server's backlog is full; nothing will announce that it is not.
    if result < 0 && result != -Int(EINPROGRESS) && result != -Int(EISCONN) {
      throw SystemError(call: "connect", code: CInt(-result))
    }
    return made
  }
}
