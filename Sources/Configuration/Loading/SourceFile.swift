import Glibc

/// Reads whole files and looks for them.
enum SourceFile {
  enum Outcome {
    case bytes([UInt8])
    case tooLong
    /// With the system's reason.
    case failed(String)
  }

  static func read(_ path: String, limit: Int) -> Outcome {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return .failed(reason(errno)) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    let piece = 64 << 10
    while bytes.count <= limit {
      var failure: CInt = 0
      let more = [UInt8](unsafeUninitializedCapacity: piece) { buffer, count in
        count = 0
        repeat {
          let got = Glibc.read(descriptor, buffer.baseAddress, piece)
          failure = got < 0 ? errno : 0
          count = max(0, got)
        } while failure == EINTR
      }
      if failure != 0 { return .failed(reason(failure)) }
      if more.isEmpty { return .bytes(bytes) }
      bytes += more
    }
    return .tooLong
  }

  /// The paths that a pattern with `*`, `?` and `[…]` matches, sorted; a pattern without them must exist.
  static func matches(_ pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } }
  }

  /// Whether two paths name the same file, links followed.
  static func isSame(_ left: String, _ right: String) -> Bool {
    var a = stat()
    var b = stat()
    guard stat(left, &a) == 0, stat(right, &b) == 0 else { return left == right }
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino
  }

  /// Whether users who neither own a file nor are in its group may read it.
  static func isReadableByAll(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IROTH != 0
  }

  static func reason(_ number: CInt) -> String {
    String(cString: strerror(number)).lowercased()
  }
}
