import COpenSSL
import Glibc

/// One X.509 certificate.
package final class Certificate: Sendable {
  // Never changed after it was parsed, and counted atomically by OpenSSL.
  nonisolated(unsafe) let handle: OpaquePointer
  /// Whom it is for.
  package let names: CertificateNames
  /// Seconds since 1970.
  let validFrom: Int
  package let validUntil: Int
  /// SHA-256 of its encoding.
  let digest: [UInt8]

  /// Takes over a reference.
  init(owning handle: OpaquePointer) {
    self.handle = handle
    names = CertificateNames(of: handle)
    validFrom = Self.seconds(X509_get0_notBefore(handle)) ?? Int.min
    validUntil = Self.seconds(X509_get0_notAfter(handle)) ?? Int.max
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    _ = X509_digest(handle, EVP_sha256(), &bytes, &length)
    digest = Array(bytes.prefix(Int(length)))
  }

  deinit {
    X509_free(handle)
  }

  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int? {
    var parts = tm()
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return timegm(&parts)
  }

  /// The day of a time in seconds since 1970, as in `2026-11-30`.
  package static func day(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&time, &parts) != nil else { return "an unknown day" }
    func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
  }

  /// What is wrong with its time of validity at a moment; nil when nothing is.
  package func timeFault(at now: Int) -> String? {
    if now > validUntil { return "it expired on \(Self.day(validUntil))" }
    if now < validFrom { return "it is not valid before \(Self.day(validFrom))" }
    return nil
  }

  /// Whether it should have been renewed at a moment: two weeks before its end, or where certificates are short-lived when
  /// a third of its time is left.
  func endsSoon(at now: Int) -> Bool {
    let left = Double(validUntil) - Double(now)
    let life = Double(validUntil) - Double(validFrom)
    return left >= 0 && left < min(14 * 86_400, life / 3)
  }

  /// All certificates of a file, at least one.
  package static func load(path: String) throws(CredentialFault) -> [Certificate] {
    let file = try PEMFile(path: path)
    ErrorQueue.clear()
    var found: [Certificate] = []
    let fault = file.withReader { reader -> ErrorQueue.Entry? in
      while let next = PEM_read_bio_X509(reader, nil, nil, nil) { found.append(Certificate(owning: next)) }
      return ErrorQueue.take()
    }
    // The end of the file is the error that no further one begins.
    let isEnd = fault??.library == CInt(ERR_LIB_PEM) && fault??.reason == CInt(PEM_R_NO_START_LINE)
    if !isEnd, let fault = fault ?? nil {
      throw CredentialFault(path, "its certificate number \(found.count + 1) is damaged: \(fault.text)")
    }
    guard found.isEmpty else { return found }
    if file.contains("PRIVATE KEY-----") {
      throw CredentialFault(path, "it holds a private key and no certificate", cure: "name the file of the certificate")
    }
    let cure = file.looksLikeDER ? "convert it: openssl x509 -inform der -in FILE -out FILE.pem" : ""
    throw CredentialFault(path, "it holds no PEM certificate", cure: cure)
  }
}
