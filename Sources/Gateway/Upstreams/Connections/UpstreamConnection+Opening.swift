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

  /// Reads the end of a session that came behind its last data: nothing will announce it.
  func readEnd() {
    if state == .active, attempt != nil, !readsPaused, transport?.hasUnread == true { readOnce() }
  }
}

extension UpstreamConnection: OpeningOwner {
  func opened(_ transport: consuming Transport, _ registration: Registration) {
    opening = nil
    self.transport = consume transport
    self.registration = registration
    worker.loop.handOver(registration, to: self)
    state = .active
    updateInterest()
    if attempt == nil { becomeIdle() } else { writeRequest() }
  }

  func openingFailed(_ reason: String) { fail(.connect, reason) }
}
