import Bytes
import EventLoops
import Glibc
import Testing
import TransportSecurity

/// One blocking TCP connection that sends exactly the bytes it is told: a client, or what ``ScriptedUpstream`` accepted.
///
/// Waits give up after half a minute, so that a fault fails the test and does not hang it.
final class RawClient {
  private let descriptor: CInt
  /// Received and not yet given out.
  private var pending: [UInt8] = []
  /// Set: all bytes go through it.
  private(set) var session: SecureSession?
  /// How the peer's direction ended; nil while it goes on.
  private(set) var end: End?

  enum End: Equatable {
    case closed
    case reset
    /// The TLS session failed, or ended without a close-notify.
    case broken
    /// Nothing came for too long.
    case silence
  }

  /// - Parameter receiveBuffer: bytes that the kernel keeps for a client that does not read; nil: its own choice.
  init(_ address: SocketAddress, receiveBuffer: CInt? = nil) throws {
    let made = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    try #require(made >= 0)
    descriptor = made
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    setPatience()
    var kernel = sockaddr_in()
    kernel.sin_family = sa_family_t(AF_INET)
    kernel.sin_port = address.port.bigEndian
    try #require(inet_pton(AF_INET, address.host, &kernel.sin_addr) == 1)
    let connected = withUnsafePointer(to: kernel) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if connected != 0 { throw NoConnection(code: errno) }
  }

  struct NoConnection: Error {
    let code: CInt
  }

  /// Takes over a connected descriptor.
  init(owning descriptor: CInt) {
    self.descriptor = descriptor
    setPatience()
  }

  deinit { close(descriptor) }

  private func setPatience() {
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  // MARK: Sending

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    guard let session else {
      sendRaw(bytes)
      return
    }
    try? session.write(from: ByteBuffer(bytes), bytes.count)
    sendRecords()
  }

  func sendRaw(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  /// Sends the block over and over until nobody takes more of it for a while, or the limit is reached.
  ///
  /// - Returns: how many bytes were taken.
  func sendWhileTaken(_ block: [UInt8], limit: Int) -> Int {
    var total = 0
    while total < limit {
      var interest = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&interest, 1, 500) == 1 else { break }
      let count = block.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, min($0.count, limit - total), CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count < 0, errno == EAGAIN { continue }
      guard count > 0 else { break }
      total += count
    }
    return total
  }

  /// Ends the sending direction.
  func finish() { shutdown(descriptor, CInt(SHUT_WR)) }

  /// Has the end of this object reset the connection.
  func resetAtEnd() {
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
  }

  // MARK: Receiving

  /// Everything up to the end of the connection.
  func receiveAll() -> String {
    while receiveMore() {}
    defer { pending = [] }
    return String(decoding: pending, as: UTF8.self)
  }

  /// Everything until the text was seen this many times.
  func receive(until text: String, times: Int = 1) -> String {
    while String(decoding: pending, as: UTF8.self).ranges(of: text).count < times, receiveMore() {}
    defer { pending = [] }
    return String(decoding: pending, as: UTF8.self)
  }

  /// Exactly so many bytes; fewer when the connection ends before.
  func receive(count: Int) -> [UInt8] {
    while pending.count < count, receiveMore() {}
    let bytes = Array(pending.prefix(count))
    pending.removeFirst(bytes.count)
    return bytes
  }

  /// Up to and with the delimiter; nil when the connection ends before.
  func receive(through delimiter: String) -> String? {
    let wanted = Array(delimiter.utf8)
    var from = 0
    while true {
      var at = from
      while at + wanted.count <= pending.count {
        if pending[at..<at + wanted.count].elementsEqual(wanted) {
          let text = String(decoding: pending[..<(at + wanted.count)], as: UTF8.self)
          pending.removeFirst(at + wanted.count)
          return text
        }
        at += 1
      }
      from = max(0, pending.count - wanted.count)
      guard receiveMore() else { return nil }
    }
  }

  /// What has come, or comes next; empty at the end.
  func receiveSome() -> [UInt8] {
    if pending.isEmpty { _ = receiveMore() }
    defer { pending = [] }
    return pending
  }

  /// Waits for the end of the connection; what comes before is dropped.
  func waitForEnd() -> End? {
    while receiveMore() { pending = [] }
    return end
  }

  private func receiveMore() -> Bool {
    guard end == nil else { return false }
    guard let session else { return receiveRaw() }
    var plain = ByteBuffer()
    while true {
      switch session.read(into: &plain) {
      case .data:
        pending += plain.bytes
        return true
      case .ended:
        end = .closed
        return false
      case .failed:
        end = .broken
        return false
      case .needsInput: if !receiveRecords() { return false }
      }
    }
  }

  // MARK: TLS

  /// Goes over to TLS: all bytes go through the session, whose handshake is made.
  ///
  /// - Returns: why that failed.
  func secure(_ session: SecureSession) -> TLSError? {
    while true {
      let progress = session.handshake()
      self.session = session
      sendRecords()
      switch progress {
      case .done: return nil
      case .failed(let error): return error
      case .needsInput:
        if !receiveRecords() { return TLSError(.truncated, "the connection ended: \(String(describing: end))") }
      }
    }
  }

  /// Sends what the session has to say.
  func sendRecords() {
    guard let session else { return }
    sendRaw(session.outgoing.bytes)
    session.outgoing.removeAll()
  }

  /// Ends the session with a close-notify, not the connection.
  func endSession() {
    session?.end()
    sendRecords()
  }

  private func receiveRecords() -> Bool {
    guard let session else { return false }
    let before = pending.count
    let isOpen = receiveRaw()
    session.incoming.append(Array(pending[before...]))
    pending.removeSubrange(before...)
    if !isOpen, end == .closed {
      // Whether that was a proper end is for the session to say.
      end = nil
      session.inputEnded()
      return true
    }
    return isOpen
  }

  private func receiveRaw() -> Bool {
    var room = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &room, room.count, 0)
    if count > 0 {
      pending += room[..<count]
      return true
    }
    end = count == 0 ? .closed : errno == EAGAIN ? .silence : .reset
    return false
  }
}
