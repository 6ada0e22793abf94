package import Bytes
import COpenSSL

/// One TLS session, without a socket: what the peer sent goes into ``incoming``, what is to be sent to it comes out of
/// ``outgoing``.
///
/// Belongs to one loop. After a failure, or the peer's end, nothing more comes out of it but an alert.
package final class SecureSession {
  /// How a step of the session went that yields no bytes.
  package enum Progress: Sendable, Equatable {
    case done
    /// More bytes of the peer are needed.
    case needsInput
    case failed(TLSError)
  }

  /// What reading yields.
  package enum Reading: Sendable, Equatable {
    /// That many bytes were appended.
    case data(Int)
    case needsInput
    /// The peer has sent all that it had to.
    case ended
    case failed(TLSError)
  }

  // Owned: freed at the end, and the BIO with it.
  private let handle: OpaquePointer
  private let server: ServerContext?
  private let client: ClientContext?

  /// Bytes of the peer that were not yet looked at.
  package var incoming = ByteBuffer()
  /// Bytes for the peer.
  package var outgoing = ByteBuffer()
  private(set) var hasInputEnded = false
  package private(set) var isEstablished = false
  private var failure: TLSError?
  /// Of a peer whose certificate is for somebody else.
  private var namesOfOther: CertificateNames?
  private var hasPeerEnded = false
  private var hasEnded = false

  /// A session with a client that has connected.
  package convenience init(server: ServerContext) throws(TLSError) {
    guard let first = server.choices.first else { throw TLSError(.certificate, "no certificate is given") }
    try self.init(first.handle, server: server, client: nil)
    SSL_set_accept_state(handle)
  }

  /// A session with a server.
  ///
  /// - Parameter name: a host name or an address; what the server's certificate has to be for.
  package convenience init(client: ClientContext, name: String) throws(TLSError) {
    try self.init(client.handle, server: nil, client: client)
    try client.demand(name, of: handle)
    SSL_set_connect_state(handle)
  }

  private init(_ context: ContextHandle, server: ServerContext?, client: ClientContext?) throws(TLSError) {
    ErrorQueue.clear()
    guard let made = SSL_new(context.pointer) else {
      throw TLSError(.protocol, "no session: \(ErrorQueue.takeText())")
    }
    handle = made
    self.server = server
    self.client = client
    guard let bio = SessionBIO.make(for: self) else { throw TLSError(.protocol, "no memory") }
    // One reference for both directions.
    SSL_set_bio(made, bio, bio)
  }

  deinit {
    SSL_free(handle)
  }

  /// Moves bytes of the peer into OpenSSL's own buffer.
  func takeIncoming(_ target: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(target.count, incoming.count)
    if count > 0 {
      incoming.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
      incoming.consume(count)
    }
    return count
  }

  /// Called while the peer's certificate is verified: notes whom it is for, as long as it can be asked.
  static func verified(_ isFine: CInt, _ verification: OpaquePointer?) -> CInt {
    guard isFine != 1, let verification, let certificate = X509_STORE_CTX_get0_cert(verification),
      let handle = X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return isFine }
    SessionBIO.session(SSL_get_rbio(OpaquePointer(handle)))?.namesOfOther = CertificateNames(of: certificate)
    return isFine
  }

  /// The peer sends nothing more: its connection is at its end.
  package func inputEnded() { hasInputEnded = true }

  // MARK: Handshake

  /// Goes on with the handshake as far as the input allows. What it wants to say is in ``outgoing``, after a failure
  /// the alert.
  package func handshake() -> Progress {
    if let failure { return .failed(failure) }
    if isEstablished { return .done }
    ErrorQueue.clear()
    let result = SSL_do_handshake(handle)
    if result == 1 {
      isEstablished = true
      // From now on heads and bodies of records are taken together. Not before: what comes behind the handshake is to
      // stay in ``incoming``, where it is seen; ``read(into:)`` leaves no whole record behind.
      SSL_set_read_ahead(handle, 1)
      return .done
    }
    let code = SSL_get_error(handle, result)
    if code == SSL_ERROR_WANT_READ { return .needsInput }
    return .failed(fail(code))
  }

  // MARK: Data

  /// Decrypts all of ``incoming``.
  ///
  /// An end that comes behind data is told by the next call; see ``isEndPending``.
  package func read(into buffer: inout ByteBuffer) -> Reading {
    var total = 0
    while failure == nil, !hasPeerEnded {
      var result: CInt = 0
      ErrorQueue.clear()
      total += buffer.appendWithUnsafeRoom(Self.leastRoom) { room in
        var count = 0
        result = SSL_read_ex(handle, room.baseAddress, room.count, &count)
        return result == 1 ? count : 0
      }
      if result == 1 {
        // Asking once more would only be told that there is nothing.
        if incoming.isEmpty, !hasInputEnded, SSL_has_pending(handle) == 0 { return .data(total) }
        continue
      }
      switch SSL_get_error(handle, result) {
      case SSL_ERROR_WANT_READ: return total > 0 ? .data(total) : .needsInput
      case SSL_ERROR_ZERO_RETURN: hasPeerEnded = true
      case let code: _ = fail(code)
      }
    }
    if total > 0 { return .data(total) }
    return failure.map { .failed($0) } ?? .ended
  }

  /// Less than this is not worth a call.
  private static let leastRoom = 1024

  /// Whether the session has ended behind the data that was read last, so that no more will come.
  package var isEndPending: Bool { hasPeerEnded || failure != nil }

  /// Encrypts the first bytes of a buffer into ``outgoing``; does not consume them.
  package func write(from buffer: borrowing ByteBuffer, _ count: Int) throws(TLSError) {
    if let failure { throw failure }
    guard count > 0 else { return }
    ErrorQueue.clear()
    var written = 0
    let result = buffer.withUnsafeBytes { bytes in
      SSL_write_ex(handle, bytes.baseAddress, min(count, bytes.count), &written)
    }
    guard result == 1, written == count else { throw fail(SSL_get_error(handle, result)) }
  }

  /// Says that nothing more will be sent (close-notify).
  package func end() {
    guard isEstablished, failure == nil, !hasEnded else { return }
    hasEnded = true
    ErrorQueue.clear()
    _ = SSL_shutdown(handle)
    ErrorQueue.clear()
  }

  // MARK: Facts

  /// What ALPN agreed on; nil when it was not used.
  package var negotiatedProtocol: String? {
    var start: UnsafePointer<UInt8>?
    var count: CUnsignedInt = 0
    SSL_get0_alpn_selected(handle, &start, &count)
    guard let start, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }

  /// `TLSv1.3`.
  package var version: String { SSL_get_version(handle).map { String(cString: $0) } ?? "" }

  /// Whether it goes on from an earlier session's ticket.
  var isResumed: Bool { SSL_session_reused(handle) == 1 }

  /// The name that the client asked for.
  package var serverName: String? {
    SSL_get_servername(handle, CInt(TLSEXT_NAMETYPE_host_name)).map { String(cString: $0) }
  }

  /// Of a server: the names of the certificate that the client was shown.
  package var certificateNames: CertificateNames? { server?.names(of: handle) }

  /// Of a server: who the client is by its certificate, if it has shown one. Only of a verified one, and so only after
  /// the handshake.
  package var clientIdentity: ClientIdentity? {
    guard server != nil, let certificate = SSL_get1_peer_certificate(handle) else { return nil }
    defer { X509_free(certificate) }
    guard SSL_get_verify_result(handle) == X509_V_OK else { return nil }
    return ClientIdentity(of: certificate)
  }

  /// The session as OpenSSL has it, for tests.
  func withHandle<R>(_ body: (OpaquePointer) -> R) -> R { body(handle) }

  // MARK: Failing

  private func fail(_ code: CInt) -> TLSError {
    let error = TLSFailure.describe(handle, code, hasInputEnded: hasInputEnded, names: namesOfOther)
    failure = error
    return error
  }
}
