import COpenSSL

/// What a listener needs to begin sessions with clients: certificates chosen by the name that a client asks for, who
/// may come in, and which protocols follow.
///
/// Immutable; a change of a certificate makes a new one. Sessions that run hold the one they began with.
package final class ServerContext: Sendable {
  /// Which clients have to show a certificate.
  package enum ClientVerification: Sendable {
    case none
    /// One that is shown has to verify.
    case optional([Certificate])
    case required([Certificate])

    var authorities: [Certificate] {
      switch self {
      case .none: []
      case .optional(let authorities), .required(let authorities): authorities
      }
    }

    fileprivate var label: UInt8 {
      switch self {
      case .none: 0
      case .optional: 1
      case .required: 2
      }
    }
  }

  struct Choice {
    let handle: ContextHandle
    let names: CertificateNames
  }

  /// By name; the first serves clients that ask for no name, or for one that no certificate covers.
  let choices: [Choice]
  /// In the order of preference, as ALPN writes them.
  let protocols: [[UInt8]]
  let tickets: TicketKeys
  /// The same for contexts that treat clients alike and have the same certificates.
  package let fingerprint: [UInt8]

  /// ECDHE with AEAD only (Mozilla's intermediate profile without finite-field DH).
  private static let ciphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    + "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

  /// - Parameters:
  ///   - identities: at least one.
  ///   - protocols: for ALPN, the preferred one first: `h2`, `http/1.1`.
  ///   - tickets: keys of session tickets; shared between contexts, a session goes on after a reload.
  package init(
    identities: [Identity], clients: ClientVerification = .none, protocols: [String], tickets: TicketKeys
  ) throws(TLSError) {
    var choices: [Choice] = []
    for identity in identities {
      let names = identity.certificate.names
      if let index = choices.firstIndex(where: { $0.names == names }) {
        // The same names with another type of key.
        try choices[index].handle.use(identity)
        continue
      }
      let handle = try ContextHandle(TLS_server_method(), ciphers: Self.ciphers)
      try handle.use(identity)
      choices.append(Choice(handle: handle, names: names))
    }
    if choices.isEmpty { throw TLSError(.certificate, "no certificate is given") }
    self.choices = choices
    self.protocols = protocols.map { Array($0.utf8) }
    self.tickets = tickets
    fingerprint = Digest.of(
      identities.map(\.fingerprint) + [[clients.label]] + clients.authorities.map(\.digest) + self.protocols)
    // A ticket is good only where clients are verified in the same way.
    let scope = Digest.of([[clients.label]] + clients.authorities.map(\.digest))
    for choice in choices { prepare(choice.handle, clients, scope) }
  }

  private func prepare(_ handle: ContextHandle, _ clients: ClientVerification, _ scope: [UInt8]) {
    let context = handle.pointer
    copenssl_set_app_data(context, Unmanaged.passUnretained(self).toOpaque())
    copenssl_set_server_name_callback(context) { session, _, _ in ServerContext.choose(session) }
    SSL_CTX_set_alpn_select_cb(
      context,
      { session, chosen, length, offered, count, _ in
        ServerContext.negotiate(session, chosen, length, offered, count)
      }, nil)
    TicketKeys.install(on: context)
    _ = SSL_CTX_set_session_id_context(context, scope, CUnsignedInt(scope.count))
    handle.trust(clients.authorities)
    for authority in clients.authorities { _ = SSL_CTX_add_client_CA(context, authority.handle) }
    switch clients {
    case .none: SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
    case .optional: SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    case .required: SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
  }

  /// The context of a session; alive, because the session holds it.
  static func of(_ session: OpaquePointer) -> ServerContext? {
    copenssl_app_data(session).map { Unmanaged<ServerContext>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The names of the certificate that a session was begun with.
  func names(of session: OpaquePointer) -> CertificateNames? {
    let used = SSL_get_SSL_CTX(session)
    return choices.first { $0.handle.pointer == used }?.names
  }

  // MARK: Callbacks

  /// Takes the certificate that covers the name which the client asks for (RFC 6066 section 3).
  private static func choose(_ session: OpaquePointer?) -> CInt {
    guard let session, let context = of(session) else { return CInt(SSL_TLSEXT_ERR_NOACK) }
    guard let name = SSL_get_servername(session, CInt(TLSEXT_NAMETYPE_host_name)) else {
      return CInt(SSL_TLSEXT_ERR_NOACK)
    }
    let bytes = Array(String(cString: name).utf8)
    guard let choice = context.choices.first(where: { $0.names.cover(host: bytes.span) }) else {
      return CInt(SSL_TLSEXT_ERR_NOACK)
    }
    return SSL_set_SSL_CTX(session, choice.handle.pointer) == nil
      ? CInt(SSL_TLSEXT_ERR_ALERT_FATAL) : CInt(SSL_TLSEXT_ERR_OK)
  }

  /// Takes the first of our protocols that the client offers (RFC 7301 section 3.2); none in common is fatal.
  private static func negotiate(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ count: CUnsignedInt
  ) -> CInt {
    guard let session, let chosen, let length, let offered, let context = of(session) else {
      return CInt(SSL_TLSEXT_ERR_NOACK)
    }
    let list = UnsafeBufferPointer(start: offered, count: Int(count))
    for wanted in context.protocols {
      var index = 0
      while index < list.count {
        let end = index + 1 + Int(list[index])
        guard end <= list.count else { break }
        if list[index + 1..<end].elementsEqual(wanted) {
          chosen.pointee = offered + index + 1
          length.pointee = list[index]
          return CInt(SSL_TLSEXT_ERR_OK)
        }
        index = end
      }
    }
    return CInt(SSL_TLSEXT_ERR_ALERT_FATAL)
  }
}
