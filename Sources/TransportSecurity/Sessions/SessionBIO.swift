import Bytes
import COpenSSL

/// The BIO that lets a session read and write its own two buffers instead of a socket.
enum SessionBIO {
  // Made once, then only read.
  nonisolated(unsafe) private static let method: OpaquePointer? = {
    guard let made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session") else { return nil }
    _ = BIO_meth_set_read(made) { bio, target, count in SessionBIO.read(bio, target, count) }
    _ = BIO_meth_set_write(made) { bio, source, count in SessionBIO.write(bio, source, count) }
    _ = BIO_meth_set_ctrl(made) { bio, command, _, _ in SessionBIO.control(bio, command) }
    return made
  }()

  /// A BIO for a session, which owns it and so outlives it.
  static func make(for session: SecureSession) -> OpaquePointer? {
    guard let method, let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, Unmanaged.passUnretained(session).toOpaque())
    BIO_set_init(bio, 1)
    return bio
  }

  /// The session that a BIO was made for.
  static func session(_ bio: OpaquePointer?) -> SecureSession? {
    bio.flatMap { BIO_get_data($0) }.map { Unmanaged<SecureSession>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func read(_ bio: OpaquePointer?, _ target: UnsafeMutablePointer<CChar>?, _ count: CInt) -> CInt {
    guard let bio, let target, count > 0, let session = session(bio) else { return 0 }
    copenssl_clear_retry(bio)
    let taken = session.takeIncoming(UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
    if taken > 0 { return CInt(truncatingIfNeeded: taken) }
    if session.hasInputEnded { return 0 }
    copenssl_retry_read(bio)
    return -1
  }

  private static func write(_ bio: OpaquePointer?, _ source: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
    guard let bio, let source, count > 0, let session = session(bio) else { return 0 }
    copenssl_clear_retry(bio)
    session.outgoing.append(UnsafeRawBufferPointer(start: source, count: Int(count)))
    return count
  }

  private static func control(_ bio: OpaquePointer?, _ command: CInt) -> CLong {
    switch command {
    case CInt(BIO_CTRL_FLUSH): 1
    case CInt(BIO_CTRL_EOF): session(bio)?.hasInputEnded == true ? 1 : 0
    default: 0
    }
  }
}
