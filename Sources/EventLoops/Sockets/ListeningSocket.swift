import CLinux
import Glibc

/// A socket that takes connections; shared by the loops, closed when the last of them lets it go.
public final class ListeningSocket: Sendable {
  /// What one accept did.
  public enum AcceptOutcome: ~Copyable {
    case socket(Socket, peer: SocketAddress)
    case wouldBlock
    /// Neither descriptors nor kernel memory for one more: pause, or the same event comes back at once.
    case outOfDescriptors
    case failed(SystemError)
  }

  public let descriptor: CInt
  /// Where it listens, with the port that the kernel chose for port 0.
  public let address: SocketAddress

  /// Listens at an address. A port that somebody else listens at is an error; one whose old connections linger is not.
  ///
  /// An IPv6 address takes IPv6 only, so that `0.0.0.0` and `::` may both be listened at.
  public init(address: SocketAddress, backlog: Int = 4_096) throws(SystemError) {
    let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let made = Socket(owning: try required("socket") { socket(address.family, type, 0) })
    made.set(SOL_SOCKET, SO_REUSEADDR, to: 1)
    if address.isIPv6 { made.set(CInt(IPPROTO_IPV6), IPV6_V6ONLY, to: 1) }
    // Accepted sockets inherit it, so that none needs a system call of its own.
    made.set(CInt(IPPROTO_TCP), TCP_NODELAY, to: 1)
    let bound = address.withKernelForm { pointer, length in
      uninterrupted { Int(bind(made.descriptor, pointer, length)) }
    }
    // A port that is taken is the commonest failure of all: it is named by its address.
    if bound < 0 { throw SystemError(call: "cannot listen on \(address.text)", code: CInt(-bound)) }
    try required("listen") { [descriptor = made.descriptor] in listen(descriptor, CInt(clamping: backlog)) }
    self.address = made.localAddress ?? address
    descriptor = made.release()
  }

  deinit {
    close(descriptor)
  }

  /// Takes one waiting connection, nonblocking and without delay of small writes.
  public func accept() -> AcceptOutcome {
    while true {
      let (result, peer) = SocketAddress.filled { clinux_accept(descriptor, $0, $1) }
      if result >= 0 {
        let accepted = Socket(owning: CInt(result))
        guard let peer else { continue }
        return .socket(accepted, peer: peer)
      }
      switch CInt(-result) {
      case EAGAIN: return .wouldBlock
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .outOfDescriptors
      // Errors of the connection that was to be taken, not of this socket: accept(2) says to go on.
      case ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH: continue
      case let code: return .failed(SystemError(call: "accept4", code: code))
      }
    }
  }
}
