import COpenSSL
import Glibc

/// The bytes of a file of certificates or keys; wiped at the end, for they may be a key.
struct PEMFile: ~Copyable {
  let path: String
  private let bytes: UnsafeMutableRawBufferPointer
  private let count: Int
  /// No chain of certificates is larger; all public authorities together are 300 KB.
  static let maximumBytes = 4 << 20

  init(path: String) throws(CredentialFault) {
    let (bytes, count) = try Self.content(of: path)
    self.path = path
    self.bytes = bytes
    self.count = count
  }

  private static func content(
    of path: String
  ) throws(CredentialFault) -> (bytes: UnsafeMutableRawBufferPointer, count: Int) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw CredentialFault(path, "it cannot be read: \(reason(errno))") }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw CredentialFault(path, "it cannot be read: \(reason(errno))") }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw CredentialFault(path, "it is not a file") }
    guard facts.st_size <= maximumBytes else {
      throw CredentialFault(path, "it is larger than \(maximumBytes >> 20) MiB")
    }
    if facts.st_size == 0 { throw CredentialFault(path, "it is empty") }
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(facts.st_size), alignment: 1)
    var filled = 0
    while filled < room.count {
      let got = read(descriptor, room.baseAddress.map { $0 + filled }, room.count - filled)
      if got < 0 && errno == EINTR { continue }
      if got <= 0 { break }
      filled += got
    }
    // A file that shrinks meanwhile is one that is being written: its change will be noticed.
    return (room, filled)
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  /// Calls the body with the content as OpenSSL reads it.
  func withReader<R: ~Copyable, E: Error>(_ body: (OpaquePointer) throws(E) -> R) throws(E) -> R? {
    guard let reader = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: count)) else { return nil }
    defer { BIO_free(reader) }
    return try body(reader)
  }

  func contains(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard wanted.count <= count else { return false }
    return (0...count - wanted.count).contains { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
  }

  /// An ASN.1 sequence: most likely the right thing in the wrong form.
  var looksLikeDER: Bool { bytes.first == 0x30 && !contains("-----BEGIN") }

  private static func reason(_ number: CInt) -> String {
    String(cString: strerror(number)).lowercased()
  }
}
