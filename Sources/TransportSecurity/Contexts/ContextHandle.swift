import COpenSSL

/// Owns one `SSL_CTX`: what all sessions of a kind have in common. It is changed only while it is made.
final class ContextHandle: Sendable {
  // Sessions of all loops are made from it; OpenSSL counts references and guards its parts by itself.
  nonisolated(unsafe) let pointer: OpaquePointer

  /// - Parameter ciphers: for TLS 1.2, in OpenSSL's words; nil for its defaults.
  init(_ method: OpaquePointer?, ciphers: String? = nil) throws(TLSError) {
    ErrorQueue.clear()
    guard let made = SSL_CTX_new(method) else { throw TLSError(.protocol, "no context: \(ErrorQueue.takeText())") }
    pointer = made
    _ = copenssl_set_minimum_version(made, CInt(TLS1_2_VERSION))
    // An idle connection holds no record buffers.
    _ = copenssl_set_mode(made, CLong(SSL_MODE_RELEASE_BUFFERS) | CLong(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    copenssl_set_safe_options(made)
    // Sessions live in tickets, not here.
    _ = copenssl_set_session_cache_mode(made, CLong(SSL_SESS_CACHE_OFF))
    if let ciphers, SSL_CTX_set_cipher_list(made, ciphers) != 1 {
      throw TLSError(.protocol, "no cipher: \(ErrorQueue.takeText())")
    }
  }

  deinit {
    SSL_CTX_free(pointer)
  }

  /// Gives it a certificate and its key. One for each type of key (ECDSA, RSA) may be there; the client's abilities
  /// decide.
  func use(_ identity: Identity) throws(TLSError) {
    ErrorQueue.clear()
    guard let chain = copenssl_new_chain() else { throw TLSError(.protocol, "no memory") }
    defer { copenssl_free_chain(chain) }
    for certificate in identity.chain { _ = copenssl_push_certificate(chain, certificate.handle) }
    guard SSL_CTX_use_cert_and_key(pointer, identity.certificate.handle, identity.key, chain, 1) == 1 else {
      throw TLSError(.certificate, "OpenSSL refuses it: \(ErrorQueue.takeText())")
    }
  }

  /// Authorities whose certificates are accepted of peers; each is trusted by itself, self-signed or not.
  func trust(_ authorities: [Certificate]) {
    guard let store = SSL_CTX_get_cert_store(pointer), let rules = SSL_CTX_get0_param(pointer) else { return }
    _ = X509_VERIFY_PARAM_set_flags(rules, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    // One that is there already is no fault.
    for authority in authorities { _ = X509_STORE_add_cert(store, authority.handle) }
    ErrorQueue.clear()
  }
}

/// SHA-256 of several parts, to tell one set of credentials from another.
enum Digest {
  static func of(_ parts: [[UInt8]]) -> [UInt8] {
    var text: [UInt8] = []
    for part in parts {
      // With its length, so that no two lists of parts give the same bytes.
      withUnsafeBytes(of: UInt64(part.count)) { text += $0 }
      text += part
    }
    var digest = [UInt8](repeating: 0, count: 32)
    var length: CUnsignedInt = 0
    _ = EVP_Digest(text, text.count, &digest, &length, EVP_sha256(), nil)
    return digest
  }
}
