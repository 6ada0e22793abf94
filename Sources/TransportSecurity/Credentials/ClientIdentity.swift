import COpenSSL

/// Who a client is by its certificate, which was verified in the handshake.
package final class ClientIdentity: Sendable {
  /// As RFC 4514 writes it: `CN=app,O=Example`. ASCII; anything else is escaped.
  package let subject: String
  /// Of its subjectAltName, each with its kind: `DNS:a.example`, `URI:spiffe://example/app`, `email:a@example`.
  package let alternativeNames: [String]
  /// SHA-256 of the certificate in lower-case hexadecimal.
  package let fingerprint: String

  package init(subject: String, alternativeNames: [String], fingerprint: String) {
    self.subject = subject
    self.alternativeNames = alternativeNames
    self.fingerprint = fingerprint
  }

  /// The SPIFFE ID: the only URI of the certificate, if it is one (SPIFFE X.509-SVID section 2).
  package var spiffe: String? {
    let uris = alternativeNames.filter { $0.hasPrefix("URI:") }
    guard let uri = uris.first, uris.count == 1, uri.hasPrefix("URI:spiffe://") else { return nil }
    return String(uri.dropFirst(4))
  }

  convenience init(of certificate: OpaquePointer) {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    _ = X509_digest(certificate, EVP_sha256(), &digest, &length)
    let hexadecimal = digest.prefix(Int(length)).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
    self.init(
      subject: Self.subject(of: certificate), alternativeNames: Self.names(of: certificate),
      fingerprint: hexadecimal.joined())
    ErrorQueue.clear()
  }

  private static func subject(of certificate: OpaquePointer) -> String {
    guard let output = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(output) }
    copenssl_print_subject(output, certificate)
    var text = [UInt8](repeating: 0, count: 4096)
    let count = BIO_read(output, &text, CInt(text.count))
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
  }

  private static func names(of certificate: OpaquePointer) -> [String] {
    guard let names = copenssl_alternative_names(certificate) else { return [] }
    defer { copenssl_free_names(names) }
    var result: [String] = []
    for index in 0..<copenssl_name_count(names) {
      var kind: CInt = 0
      var bytes: UnsafePointer<UInt8>?
      let length = copenssl_text_name_at(names, index, &kind, &bytes)
      guard length > 0, let bytes else { continue }
      let text = UnsafeBufferPointer(start: bytes, count: Int(length))
      // They are IA5 strings: what is not visible ASCII is a trick.
      guard text.allSatisfy({ (0x21...0x7E).contains($0) }) else { continue }
      let prefix = kind == GEN_DNS ? "DNS:" : kind == GEN_URI ? "URI:" : "email:"
      result.append(prefix + String(decoding: text, as: UTF8.self))
    }
    return result
  }
}
