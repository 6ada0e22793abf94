import Bytes
import Glibc

extension LogSink {
  static func open(_ target: Target) throws(SystemError) -> CInt {
    switch target {
    case .standardOutput: return STDOUT_FILENO
    case .standardError: return STDERR_FILENO
    case .file(let path):
      return try required("open") { Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640) }
    }
  }

  static func close(_ descriptor: CInt, _ target: Target) {
    if case .file = target { _ = Glibc.close(descriptor) }
  }

  /// Writes all of the buffer, however many calls it takes.
  ///
  /// - Returns: false when the target failed.
  static func write(_ bytes: inout ByteBuffer, to descriptor: CInt) -> Bool {
    while !bytes.isEmpty {
      let result = bytes.withUnsafeBytes { bytes in
        uninterrupted { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
      }
      if result > 0 {
        bytes.consume(result)
      } else if result == -Int(EAGAIN) {
        // A standard stream that somebody made nonblocking: wait, but not forever on one that nobody reads.
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if uninterrupted({ Int(poll(&wait, 1, 5_000)) }) <= 0 { return false }
      } else {
        return false
      }
    }
    return true
  }
}
