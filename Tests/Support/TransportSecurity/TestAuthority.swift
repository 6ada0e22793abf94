import COpenSSL
import Glibc

/// Makes certificates for tests, in a folder of its own that goes with it. No key outlives the test run.
package final class TestAuthority {
  package struct Failure: Error {}

  /// The files of a certificate and its key.
  package struct Files: Sendable {
    package var certificate: String
    package var key: String
  }

  package enum KeyType {
    case ecdsa, rsa
    /// Too short for OpenSSL's usual demands.
    case shortRSA
  }

  package let folder: String
  /// The authority's own certificate.
  package let file: String
  private let key: OpaquePointer
  private let certificate: OpaquePointer
  private let name: String
  private var serial = 1

  package init(_ name: String = "Test Authority") throws {
    self.name = name
    var template = Array("/tmp/turnout-tls-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Failure() }
    folder = String(cString: made)
    file = "\(folder)/authority.pem"
    key = try Self.makeKey(.ecdsa)
    certificate = try Self.make(
      subject: name, issuer: name, key: key, signer: key, serial: 1, validity: -3600...86_400,
      extensions: [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")])
    try Self.write(certificates: [certificate], to: file)
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
    for file in names(in: folder) { unlink("\(folder)/\(file)") }
    rmdir(folder)
  }

  private func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  /// Issues a certificate and writes it and its key.
  ///
  /// - Parameters:
  ///   - file: the name of the files, without ending; those of an earlier certificate are replaced.
  ///   - names: as OpenSSL writes them: `DNS:a.example`, `IP:127.0.0.1`.
  ///   - validity: in seconds from now.
  package func issue(
    _ file: String, for names: [String], type: KeyType = .ecdsa, validity: ClosedRange<Int> = -3600...86_400
  ) throws -> Files {
    let own = try Self.makeKey(type)
    defer { EVP_PKEY_free(own) }
    serial += 1
    var extensions = [(NID_basic_constraints, "critical,CA:FALSE")]
    if !names.isEmpty { extensions.append((NID_subject_alt_name, names.joined(separator: ","))) }
    let made = try Self.make(
      subject: file, issuer: name, key: own, signer: key, serial: serial, validity: validity, extensions: extensions)
    defer { X509_free(made) }
    let files = Files(certificate: "\(folder)/\(file).pem", key: "\(folder)/\(file).key")
    try Self.write(certificates: [made], to: files.certificate)
    try Self.write(key: own, passphrase: nil, to: files.key)
    return files
  }

  /// A key that only a passphrase opens.
  package func encryptedKey(_ file: String, passphrase: String) throws -> String {
    let own = try Self.makeKey(.ecdsa)
    defer { EVP_PKEY_free(own) }
    let path = "\(folder)/\(file)"
    try Self.write(key: own, passphrase: passphrase, to: path)
    return path
  }

  package func write(_ text: String, to file: String) throws -> String {
    let path = "\(folder)/\(file)"
    try Self.replace(path) { BIO_write($0, text, CInt(text.utf8.count)) == CInt(text.utf8.count) }
    return path
  }

  // MARK: OpenSSL

  private static func makeKey(_ type: KeyType) throws -> OpaquePointer {
    let id = type == .ecdsa ? EVP_PKEY_EC : EVP_PKEY_RSA
    guard let context = EVP_PKEY_CTX_new_id(id, nil) else { throw Failure() }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1 else { throw Failure() }
    let isSet =
      type == .ecdsa
      ? EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
      : EVP_PKEY_CTX_set_rsa_keygen_bits(context, type == .shortRSA ? 1024 : 2048)
    guard isSet == 1, EVP_PKEY_keygen(context, &key) == 1, let key else { throw Failure() }
    return key
  }

  private static func make(
    subject: String, issuer: String, key: OpaquePointer, signer: OpaquePointer, serial: Int,
    validity: ClosedRange<Int>, extensions: [(CInt, String)]
  ) throws -> OpaquePointer {
    guard let made = X509_new() else { throw Failure() }
    _ = X509_set_version(made, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(made), serial)
    X509_gmtime_adj(X509_getm_notBefore(made), validity.lowerBound)
    X509_gmtime_adj(X509_getm_notAfter(made), validity.upperBound)
    set(X509_get_subject_name(made), subject)
    set(X509_get_issuer_name(made), issuer)
    _ = X509_set_pubkey(made, key)
    for (kind, value) in extensions {
      guard let item = X509V3_EXT_conf_nid(nil, nil, kind, value) else { throw Failure() }
      X509_add_ext(made, item, -1)
      X509_EXTENSION_free(item)
    }
    guard X509_sign(made, signer, EVP_sha256()) > 0 else { throw Failure() }
    return made
  }

  private static func set(_ name: OpaquePointer?, _ text: String) {
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, Array(text.utf8), CInt(text.utf8.count), -1, 0)
  }

  private static func write(certificates: [OpaquePointer], to path: String) throws {
    try replace(path) { writer in certificates.allSatisfy { PEM_write_bio_X509(writer, $0) == 1 } }
  }

  private static func write(key: OpaquePointer, passphrase: String?, to path: String) throws {
    try replace(path) { writer in
      guard let passphrase else { return PEM_write_bio_PrivateKey(writer, key, nil, nil, 0, nil, nil) == 1 }
      let bytes = Array(passphrase.utf8)
      return PEM_write_bio_PrivateKey(writer, key, EVP_aes_128_cbc(), bytes, CInt(bytes.count), nil, nil) == 1
    }
  }

  /// As tools do: a new file is moved over the old one.
  private static func replace(_ path: String, _ body: (OpaquePointer) -> Bool) throws {
    guard let writer = BIO_new_file("\(path).new", "w") else { throw Failure() }
    let isWritten = body(writer)
    BIO_free(writer)
    guard isWritten, rename("\(path).new", path) == 0 else { throw Failure() }
  }
}
