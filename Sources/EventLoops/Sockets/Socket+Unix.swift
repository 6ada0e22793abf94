import Glibc

extension Socket {
  /// Begins a connection to a socket of this machine (unix(7)), as ``connect(to:)`` does.
  ///
  /// - Parameter path: absolute, at most 107 bytes.
  /// - Throws: what the kernel refuses at once. A full backlog is among it: there is nothing to wait for.
  package static func connect(toUnixSocket path: String) throws(SystemError) -> Socket {
    var kernel = sockaddr_un()
    kernel.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &kernel.sun_path) { room in
      guard bytes.count < room.count, !bytes.contains(0) else { return false }
      room.copyBytes(from: bytes)
      return true
    }
    guard fits else { throw SystemError(call: "connect", code: ENAMETOOLONG) }
    let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let made = Socket(owning: try required("socket") { Glibc.socket(AF_UNIX, type, 0) })
    let result = withUnsafePointer(to: &kernel) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        uninterrupted { Int(Glibc.connect(made.descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))) }
      }
    }
    if result < 0 && result != -Int(EINPROGRESS) { throw SystemError(call: "connect", code: CInt(-result)) }
    return made
  }
}
