import Glibc

/// A folder of its own for one test, removed at its end.
package final class TemporaryFolder {
  package let path: String

  package init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/turnout-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(errno: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    Self.removeAll(path)
  }

  /// Links are removed, not followed.
  private static func removeAll(_ path: String) {
    guard unlink(path) != 0, let listing = opendir(path) else { return }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { removeAll("\(path)/\(name)") }
    }
    closedir(listing)
    rmdir(path)
  }

  package struct Failure: Error {
    let errno: CInt
  }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  package func write(_ text: String, to name: String) throws {
    let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    defer { close(descriptor) }
    var text = text
    let written = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written != text.utf8.count { throw Failure(errno: errno) }
  }

  package func read(_ name: String) throws -> String {
    let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = block.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { break }
      bytes += block.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  package func makeFolder(_ name: String) throws {
    if mkdir(file(name), 0o700) != 0 { throw Failure(errno: errno) }
  }

  package func link(_ name: String, to target: String) throws {
    if symlink(target, file(name)) != 0 { throw Failure(errno: errno) }
  }

  package func move(_ old: String, to new: String) throws {
    if rename(file(old), file(new)) != 0 { throw Failure(errno: errno) }
  }
}
