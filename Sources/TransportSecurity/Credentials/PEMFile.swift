import COpenSSL
import Files

/// The bytes of a file of certificates or keys; wiped at the end (``WholeFile``), for they may be a key.
struct PEMFile: ~Copyable {
  private let file: WholeFile
  /// No chain of certificates is larger; all public authorities together are 300 KB.
  static let maximumBytes = 4 << 20

  init(path: String) throws(CredentialFault) {
    file = try Self.read(path)
  }

  private static func read(_ path: String) throws(CredentialFault) -> WholeFile {
    do throws(FileFault) {
      return try WholeFile(path, limit: maximumBytes, mayBeEmpty: false)
    } catch {
      switch error.kind {
      case .unreadable: throw CredentialFault(path, "it cannot be read: \(error.reason)")
      case .notAFile, .empty: throw CredentialFault(path, error.reason)
      case .tooLarge(let limit): throw CredentialFault(path, "it is larger than \(limit >> 20) MiB")
      }
    }
  }

  /// Calls the body with the content as OpenSSL reads it.
  func withReader<R: ~Copyable, E: Error>(_ body: (OpaquePointer) throws(E) -> R) throws(E) -> R? {
    try file.withUnsafeBytes { (bytes) throws(E) -> R? in
      guard let reader = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return nil }
      defer { BIO_free(reader) }
      return try body(reader)
    }
  }

  func contains(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return file.withUnsafeBytes { bytes in
      guard wanted.count <= bytes.count else { return false }
      return (0...bytes.count - wanted.count).contains { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
  }

  /// An ASN.1 sequence: most likely the right thing in the wrong form.
  var looksLikeDER: Bool { file.withUnsafeBytes { $0.first } == 0x30 && !contains("-----BEGIN") }
}
