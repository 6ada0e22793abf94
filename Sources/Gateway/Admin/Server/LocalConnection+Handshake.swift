import EventLoops
import TransportSecurity

/// From a connected socket to one over which requests may come.
extension LocalConnection {
  private static let plainAnswer: StaticString = """
    HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 43\r\nconnection: close\r\n\r\n\
    {"error":"this address speaks HTTPS only"}\n
    """

  func shakeHands() {
    switch transport.open() {
    case .reads: watch(.readable)
    case .writes: watch(.writable)
    case .done:
      phase = .head
      schedule(after: limits.idle)
      watch(.readable)
      // What came behind the end of the handshake is not announced again.
      if transport.hasUnread { ready(.readable) }
    case .failed(let error):
      if case .security(let error) = error, error.isPlainHTTP { transport.writeInTheClear(Self.plainAnswer) }
      close()
    }
  }
}
