import EventLoops
import Glibc
import Testing

/// A blocking client that sends exactly the bytes it is told. Reads give up after ten seconds, so that a fault fails
/// the test and does not hang it.
final class RawClient {
  private let descriptor: CInt

  init(_ address: SocketAddress) throws {
    let made = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    try #require(made >= 0)
    descriptor = made
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var kernel = sockaddr_in()
    kernel.sin_family = sa_family_t(AF_INET)
    kernel.sin_port = address.port.bigEndian
    try #require(inet_pton(AF_INET, address.host, &kernel.sin_addr) == 1)
    let connected = withUnsafePointer(to: kernel) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(connected == 0)
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  /// Ends the sending direction.
  func finish() { shutdown(descriptor, CInt(SHUT_WR)) }

  /// Everything up to the end of the connection.
  func receiveAll() -> String {
    var bytes: [UInt8] = []
    while let more = receive() { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Everything until the text was seen this many times.
  func receive(until text: String, times: Int = 1) -> String {
    var bytes: [UInt8] = []
    while true {
      let received = String(decoding: bytes, as: UTF8.self)
      if received.components(of: text) >= times { return received }
      guard let more = receive() else { return received }
      bytes += more
    }
  }

  private func receive() -> [UInt8]? {
    var room = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &room, room.count, 0)
    return count > 0 ? Array(room[..<count]) : nil
  }
}

extension String {
  /// How often a text occurs, without overlaps.
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
