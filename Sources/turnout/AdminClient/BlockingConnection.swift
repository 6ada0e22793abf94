import Bytes
import Glibc
import TransportSecurity

/// One blocking TCP connection, over TLS where the address says so, with a bound on the whole time it may take. Owns its
/// descriptor.
struct BlockingConnection: ~Copyable {
  let descriptor: CInt
  /// Seconds of the monotonic clock.
  private let end: Int
  /// Nil: without TLS.
  let session: SecureSession?

  private init(descriptor: CInt, end: Int, session: SecureSession?) {
    self.descriptor = descriptor
    self.end = end
    self.session = session
  }

  deinit { close(descriptor) }

  /// Connects to the first address of the name that answers.
  static func open(to endpoint: AdminURL, seconds: Int) throws(AdminClient.Failure) -> BlockingConnection {
    // Before anything is sent: a file that cannot be read is no reason to call.
    let session = endpoint.isSecure ? try secureSession(for: endpoint) : nil
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let outcome = getaddrinfo(endpoint.host, "\(endpoint.port)", &hints, &list)
    guard outcome == 0 else { throw AdminClient.Failure(reason: String(cString: gai_strerror(outcome))) }
    defer { freeaddrinfo(list) }
    var reason = "there is no address"
    var entry = list
    while let address = entry {
      if let connected = connect(address.pointee, seconds: seconds) {
        let connection = BlockingConnection(descriptor: connected, end: now() + seconds, session: session)
        try connection.shakeHands()
        return connection
      }
      reason = String(cString: strerror(errno))
      entry = address.pointee.ai_next
    }
    throw AdminClient.Failure(reason: reason)
  }

  private static func connect(_ address: addrinfo, seconds: Int) -> CInt? {
    let descriptor = socket(address.ai_family, address.ai_socktype | CInt(SOCK_CLOEXEC.rawValue), address.ai_protocol)
    guard descriptor >= 0 else { return nil }
    // The timeouts hold for connect too (socket(7)).
    var patience = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    guard Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
      let reason = errno
      close(descriptor)
      errno = reason
      return nil
    }
    return descriptor
  }

  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }

  /// Sends everything, as it is.
  func sendPlain(_ bytes: borrowing ByteBuffer) throws(AdminClient.Failure) {
    var sent = 0
    while sent < bytes.count {
      let written = bytes.withUnsafeBytes { all in
        let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
        return Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw failure() }
      sent += written
    }
  }

  /// Receives some bytes, as they are; false at the end.
  func receivePlain(into buffer: inout ByteBuffer) throws(AdminClient.Failure) -> Bool {
    while true {
      guard Self.now() <= end else { throw AdminClient.Failure(reason: "no whole answer in time") }
      let received = buffer.appendWithUnsafeRoom(16_384) { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if received < 0, errno == EINTR { continue }
      guard received >= 0 else { throw failure() }
      return received > 0
    }
  }

  private func failure() -> AdminClient.Failure {
    let reason = errno == EAGAIN ? "no answer in time" : String(cString: strerror(errno))
    return AdminClient.Failure(reason: reason)
  }
}
