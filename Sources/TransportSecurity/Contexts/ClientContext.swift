import COpenSSL

/// What is needed to begin sessions with servers: whom to trust, and who we are.
///
/// Immutable; a change of a file makes a new one.
package final class ClientContext: Sendable {
  /// Whose certificates are accepted.
  package enum Trust: Sendable {
    /// Those of the machine's authorities.
    case system
    /// Those of these authorities and no others.
    case authorities([Certificate])
  }

  let handle: ContextHandle
  /// The same for contexts that trust the same and show the same certificate.
  package let fingerprint: [UInt8]

  /// - Parameters:
  ///   - identity: shown to servers that ask for a certificate.
  ///   - protocols: for ALPN, the preferred one first; none: nothing is offered.
  package init(trust: Trust = .system, identity: Identity? = nil, protocols: [String] = []) throws(TLSError) {
    handle = try ContextHandle(TLS_client_method())
    let context = handle.pointer
    ErrorQueue.clear()
    var digests: [[UInt8]] = []
    switch trust {
    case .system: _ = SSL_CTX_set_default_verify_paths(context)
    case .authorities(let authorities):
      handle.trust(authorities)
      digests = authorities.map(\.digest)
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { SecureSession.verified($0, $1) }
    if let identity { try handle.use(identity) }
    var offered: [UInt8] = []
    for name in protocols { offered += [UInt8(truncatingIfNeeded: name.utf8.count)] + Array(name.utf8) }
    if !offered.isEmpty { _ = SSL_CTX_set_alpn_protos(context, offered, CUnsignedInt(offered.count)) }
    fingerprint = Digest.of(digests + [identity?.fingerprint ?? [], offered])
    ErrorQueue.clear()
  }

  /// Has a session ask for a server by name, and accept no other: in SNI and in the certificate; an address is looked
  /// for among the certificate's addresses, and not sent (RFC 6066 section 3).
  func demand(_ name: String, of session: OpaquePointer) throws(TLSError) {
    ErrorQueue.clear()
    guard let wanted = SSL_get0_param(session) else { throw TLSError(.protocol, "no memory") }
    X509_VERIFY_PARAM_set_hostflags(wanted, CUnsignedInt(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    if X509_VERIFY_PARAM_set1_ip_asc(wanted, name) == 1 { return }
    ErrorQueue.clear()
    guard !name.isEmpty, X509_VERIFY_PARAM_set1_host(wanted, name, name.utf8.count) == 1,
      copenssl_set_host_name(session, name) == 1
    else {
      throw TLSError(.certificate, "\(name) is no name of a server: \(ErrorQueue.takeText())")
    }
  }
}
