import Bytes
import TransportSecurity

/// What goes over the connection, encrypted where there is a session.
extension BlockingConnection {
  static func secureSession(for endpoint: AdminURL) throws(AdminClient.Failure) -> SecureSession {
    do {
      let trust: ClientContext.Trust
      if let file = endpoint.authorities {
        trust = .authorities(try Certificate.load(path: file))
      } else {
        trust = .system
      }
      return try SecureSession(client: ClientContext(trust: trust, protocols: ["http/1.1"]), name: endpoint.host)
    } catch let fault as CredentialFault {
      throw AdminClient.Failure(reason: "--ca: \(fault.path): \(fault.reason)")
    } catch {
      throw AdminClient.Failure(reason: "TLS: \(error)")
    }
  }

  func shakeHands() throws(AdminClient.Failure) {
    guard let session else { return }
    while true {
      let progress = session.handshake()
      try flush(session)
      switch progress {
      case .done: return
      case .failed(let error): throw AdminClient.Failure(reason: "TLS: \(error.reason)")
      case .needsInput: try feed(session)
      }
    }
  }

  /// Sends everything.
  func send(_ bytes: borrowing ByteBuffer) throws(AdminClient.Failure) {
    guard let session else { return try sendPlain(bytes) }
    do throws(TLSError) {
      try session.write(from: bytes, bytes.count)
    } catch {
      throw AdminClient.Failure(reason: "TLS: \(error.reason)")
    }
    try flush(session)
  }

  /// Receives some bytes; false at the end.
  func receive(into buffer: inout ByteBuffer) throws(AdminClient.Failure) -> Bool {
    guard let session else { return try receivePlain(into: &buffer) }
    while true {
      switch session.read(into: &buffer) {
      case .data: return true
      case .ended: return false
      case .failed(let error): throw AdminClient.Failure(reason: "TLS: \(error.reason)")
      case .needsInput: try feed(session)
      }
    }
  }

  private func feed(_ session: SecureSession) throws(AdminClient.Failure) {
    if !(try receivePlain(into: &session.incoming)) { session.inputEnded() }
  }

  private func flush(_ session: SecureSession) throws(AdminClient.Failure) {
    guard !session.outgoing.isEmpty else { return }
    try sendPlain(session.outgoing)
    session.outgoing.removeAll()
  }
}
