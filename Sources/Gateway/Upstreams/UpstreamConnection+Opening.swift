import Bytes
import EventLoops

/// From the socket to a connection that can be asked, and what TLS says beside HTTP.
extension UpstreamConnection {
  /// Whether there is nothing for HTTP: a session may speak for itself (tickets, new keys) while nothing is asked.
  func staysIdle() -> Bool {
    worker.lendBuffer(to: &input)
    defer { worker.discard(&input) }
    if case .wouldBlock? = transport?.read(into: &input, room: worker.readRoom) { return true }
    return false
  }

  func finishConnecting() {
    if !isConnected {
      if let error = transport?.takeError() {
        endpoint.connectFailed()
        fail(.connect, error.reason)
        return
      }
      isConnected = true
    }
    guard let registration, let opening = transport?.open() else { return }
    switch opening {
    case .reads: worker.loop.change(registration, to: [.readable])
    case .writes: worker.loop.change(registration, to: [.writable])
    case .failed(let error):
      endpoint.handshakeEnded(error)
      endpoint.connectFailed()
      fail(.connect, "\(error)")
    case .done:
      endpoint.handshakeEnded(nil)
      opened()
    }
  }

  /// The connection can be asked.
  func opened() {
    timer.cancel()
    state = .active
    updateInterest()
    writeRequest()
  }

  /// Reads the end of a session that came behind its last data: nothing will announce it.
  func readEnd() {
    if state == .active, attempt != nil, !readsPaused, transport?.hasUnread == true { readOnce() }
  }
}
