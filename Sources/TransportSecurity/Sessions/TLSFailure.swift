import COpenSSL

/// Says in words why a session failed.
enum TLSFailure {
  /// - Parameters:
  ///   - code: of `SSL_get_error`; the errors are still in the queue.
  ///   - names: of a peer whose certificate was not accepted.
  static func describe(
    _ session: OpaquePointer, _ code: CInt, hasInputEnded: Bool, names: CertificateNames?
  ) -> TLSError {
    // A signature that does not fit has errors of the ciphers before the one of the protocol.
    guard let entry = ErrorQueue.take(preferring: CInt(ERR_LIB_SSL)) else {
      return hasInputEnded ? .truncated : TLSError(.protocol, "the session failed")
    }
    guard entry.library == CInt(ERR_LIB_SSL) else { return TLSError(.protocol, entry.text) }
    switch entry.reason {
    case CInt(SSL_R_UNEXPECTED_EOF_WHILE_READING): return .truncated
    case CInt(SSL_R_CERTIFICATE_VERIFY_FAILED): return TLSError(.certificate, certificateFault(session, names))
    case CInt(SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE):
      return TLSError(.noCertificate, "the peer gave no certificate")
    case CInt(SSL_R_HTTP_REQUEST), CInt(SSL_R_HTTPS_PROXY_REQUEST):
      return TLSError(.notTLS, "the peer speaks HTTP without TLS", isPlainHTTP: true)
    case CInt(SSL_R_WRONG_VERSION_NUMBER), CInt(SSL_R_PACKET_LENGTH_TOO_LONG), CInt(SSL_R_BAD_PACKET_LENGTH),
      CInt(SSL_R_UNKNOWN_PROTOCOL):
      // The one is also said of old versions of TLS, but then a handshake was read before.
      return TLSError(.notTLS, "the peer does not speak TLS: \(entry.text)")
    case CInt(SSL_AD_REASON_OFFSET)...: return TLSError(.refused, "the peer ended it: \(entry.text)")
    default: return TLSError(.protocol, entry.text)
    }
  }

  /// Why the peer's certificate was not accepted, and whom it is for.
  private static func certificateFault(_ session: OpaquePointer, _ names: CertificateNames?) -> String {
    let result = SSL_get_verify_result(session)
    let text = X509_verify_cert_error_string(result).map { String(cString: $0) } ?? "it does not verify"
    var reason = "the peer's certificate is not accepted: \(text)"
    let isOther = result == CLong(X509_V_ERR_HOSTNAME_MISMATCH) || result == CLong(X509_V_ERR_IP_ADDRESS_MISMATCH)
    if isOther, let names = names?.all {
      reason += names.isEmpty ? "; it is for no name" : "; it is for \(shown(names))"
    }
    return reason
  }

  /// The peer wrote them: some, and not longer than names are.
  private static func shown(_ names: [String]) -> String {
    names.prefix(10).map { String($0.prefix(255)) }.joined(separator: ", ") + (names.count > 10 ? ", …" : "")
  }
}
