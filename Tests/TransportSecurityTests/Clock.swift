import COpenSSL
import Bytes
import Synchronization

@testable import TransportSecurity

final class Clock: Sendable {
  private let time = Atomic<Int>(0)

  var seconds: Int {
    get { time.load(ordering: .relaxed) }
    set { time.store(newValue, ordering: .relaxed) }
  }
}

extension SecureSession {
  /// The ticket that the server has given; the caller owns it.
  func ticket(from pair: Pair) throws -> OpaquePointer {
    try pair.server.send([1])
    _ = pair.receive(pair.server, pair.client)
    guard let session = withHandle({ SSL_get1_session($0) }) else { throw SessionTests.Unexpected() }
    return session
  }

  func resume(_ session: OpaquePointer) -> Bool { withHandle { SSL_set_session($0, session) } == 1 }

  var peerKeyType: CInt {
    withHandle { handle in
      guard let peer = SSL_get1_peer_certificate(handle) else { return 0 }
      defer { X509_free(peer) }
      return EVP_PKEY_get_base_id(X509_get0_pubkey(peer))
    }
  }
}
