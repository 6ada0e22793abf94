import Bytes
import Glibc

extension LogSink {
  static func open(_ target: Target) throws(SystemError) -> CInt {
    switch target {
    case .standardOutput: return STDOUT_FILENO
    case .standardError: return STDERR_FILENO
    case .file(let path):
      // A pipe that nobody reads is an error, not somebody to wait for.
      let how = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
      return try required("open") { Glibc.open(path, how, 0o640) }
    }
  }

  /// Whether a target is a file that somebody has emptied, so that nothing of a line is left in it.
  static func isEmptied(_ descriptor: CInt) -> Bool {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_size == 0
  }

  static func close(_ descriptor: CInt, _ target: Target) {
    if case .file = target { _ = Glibc.close(descriptor) }
  }

  /// Writes all of the buffer, however many calls it takes.
  ///
  /// - Parameter isInsideLine: becomes whether the last byte that was taken is in the middle of a line.
  /// - Returns: why the target took no more; what it has not taken is still in the buffer. Nil when it has all.
  static func write(
    _ bytes: inout ByteBuffer, to descriptor: CInt, isInsideLine: inout Bool
  ) -> SystemError? {
    while !bytes.isEmpty {
      let result = bytes.withUnsafeBytes { bytes in
        uninterrupted { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
      }
      if result > 0 {
        isInsideLine = bytes[result - 1] != UInt8(ascii: "\n")
        bytes.consume(result)
      } else if result == -Int(EAGAIN) {
        // A standard stream that somebody made nonblocking: wait, but not forever on one that nobody reads.
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if uninterrupted({ Int(poll(&wait, 1, 5_000)) }) <= 0 { return SystemError(call: "write", code: EAGAIN) }
      } else {
        // Nothing taken and no error: there is no room either.
        return SystemError(call: "write", code: result == 0 ? ENOSPC : CInt(-result))
      }
    }
    return nil
  }
}
