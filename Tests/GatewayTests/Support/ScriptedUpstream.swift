import EventLoops
import Glibc
import Testing

/// A listening socket at which the test itself plays the backend: it accepts, reads and answers step by step.
final class ScriptedUpstream {
  private let descriptor: CInt
  let port: UInt16

  /// - Parameter receiveBuffer: bytes that the kernel keeps of what is not read; nil: its own choice.
  init(receiveBuffer: CInt? = nil) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    var kernel = sockaddr_in()
    kernel.sin_family = sa_family_t(AF_INET)
    kernel.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let bound = withUnsafeMutablePointer(to: &kernel) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: kernel.sin_port)
    try #require(bound)
  }

  deinit { close(descriptor) }

  var endpoint: String { "http://127.0.0.1:\(port)" }

  /// The next connection of the gateway.
  ///
  /// - Parameter sendBuffer: bytes that the kernel keeps of what is sent; nil: its own choice.
  func accept(sendBuffer: CInt? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws -> RawClient {
    try #require(isAsked(within: 30_000), "the gateway does not connect", sourceLocation: sourceLocation)
    let accepted = Glibc.accept(descriptor, nil, nil)
    try #require(accepted >= 0, sourceLocation: sourceLocation)
    if var size = sendBuffer {
      setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    return RawClient(owning: accepted)
  }

  /// Whether a connection waits, or comes within the time.
  func isAsked(within milliseconds: CInt = 0) -> Bool {
    var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&interest, 1, milliseconds) == 1
  }
}

/// A port that was free a moment ago.
struct RawListenerPort {
  let port: UInt16

  init() throws { port = try ScriptedUpstream().port }

  var address: SocketAddress {
    get throws { try #require(SocketAddress(host: "127.0.0.1", port: port)) }
  }
}
