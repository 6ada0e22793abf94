import Files
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
    do throws(FileFault) {
      return .bytes(try WholeFile(path, limit: limit).bytes)
    } catch {
      if case .tooLarge = error.kind { return .tooLong }
      return .failed(error.reason)
    }
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
}
