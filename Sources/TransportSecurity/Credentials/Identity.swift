import COpenSSL

/// A certificate, what links it to an authority, and its private key.
package final class Identity: Sendable {
  package let certificate: Certificate
  /// The intermediates, in the order of the file.
  package let chain: [Certificate]
  // Never changed after it was parsed, and counted atomically by OpenSSL.
  nonisolated(unsafe) let key: OpaquePointer

  private init(certificate: Certificate, chain: [Certificate], key: OpaquePointer) {
    self.certificate = certificate
    self.chain = chain
    self.key = key
  }

  deinit {
    EVP_PKEY_free(key)
  }

  /// Reads both files and checks that they belong together.
  ///
  /// - Parameter certificate: the file of the certificate, then its intermediates; the key may stand in the same file.
  package static func load(certificate path: String, key keyPath: String) throws(CredentialFault) -> Identity {
    let certificates = try Certificate.load(path: path)
    guard let leaf = certificates.first else { throw CredentialFault(path, "it holds no PEM certificate") }
    let key = try privateKey(keyPath)
    let identity = Identity(certificate: leaf, chain: Array(certificates.dropFirst()), key: key)
    ErrorQueue.clear()
    guard X509_check_private_key(leaf.handle, key) == 1 else {
      ErrorQueue.clear()
      let isOther = certificates.contains { X509_check_private_key($0.handle, key) == 1 }
      ErrorQueue.clear()
      throw CredentialFault(
        keyPath, "it is not the key of the certificate in \(path)",
        cure: isOther
          ? "it belongs to a later certificate of that file; put that one first"
          : "name the key that the certificate was made for")
    }
    // What a context refuses (a short key, a weak digest) is a fault of this file, and of no other.
    do throws(TLSError) {
      try ContextHandle(TLS_server_method()).use(identity)
    } catch {
      throw CredentialFault(path, error.reason)
    }
    return identity
  }

  private static func privateKey(_ path: String) throws(CredentialFault) -> OpaquePointer {
    let file = try PEMFile(path: path)
    ErrorQueue.clear()
    // Without this answer OpenSSL would ask for a passphrase at the terminal.
    let key = file.withReader { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) } ?? nil
    if let key { return key }
    let reason = ErrorQueue.takeText()
    if file.contains("BEGIN ENCRYPTED PRIVATE KEY") || file.contains("Proc-Type: 4,ENCRYPTED") {
      throw CredentialFault(
        path, "its private key is encrypted", cure: "store it decrypted and readable by the gateway alone")
    }
    if file.contains("PRIVATE KEY-----") { throw CredentialFault(path, "its private key is damaged: \(reason)") }
    let cure =
      file.contains("BEGIN CERTIFICATE-----")
      ? "it holds a certificate; name the file of the key"
      : file.looksLikeDER ? "convert it: openssl pkey -inform der -in FILE -out FILE.pem" : ""
    throw CredentialFault(path, "it holds no PEM private key", cure: cure)
  }

  /// What does not keep it from working, or not yet, at a moment in seconds since 1970.
  package func warnings(at now: Int) -> [String] {
    var warnings: [String] = []
    if let fault = certificate.timeFault(at: now) {
      warnings.append("its certificate is out of time: \(fault)")
    } else if certificate.endsSoon(at: now) {
      warnings.append("its certificate ends on \(Certificate.day(certificate.validUntil)): renew it")
    }
    if certificate.names.all.isEmpty { warnings.append("its certificate is for no name") }
    var issued = certificate
    for (index, issuer) in chain.enumerated() {
      if let fault = issuer.timeFault(at: now) { warnings.append("its certificate number \(index + 2): \(fault)") }
      if X509_check_issued(issuer.handle, issued.handle) != X509_V_OK {
        warnings.append(
          "its certificate number \(index + 2) did not issue the one before; clients may refuse the chain")
      }
      issued = issuer
    }
    ErrorQueue.clear()
    return warnings
  }

  /// The first end of a certificate of it, in seconds since 1970.
  package var validUntil: Int { chain.reduce(certificate.validUntil) { min($0, $1.validUntil) } }

  /// What makes it another one than before a reload.
  var fingerprint: [UInt8] { ([certificate] + chain).flatMap(\.digest) }
}
