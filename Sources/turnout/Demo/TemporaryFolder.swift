import Glibc

/// A folder of this process alone, removed with its files by ``remove()``.
final class TemporaryFolder {
  let path: String
  private var files: [String] = []

  /// Makes one under `TMPDIR`, or `/tmp`.
  init(prefix: String, parent: String?) throws(ProgramError) {
    let parent = parent.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw ProgramError("cannot make a folder in \(parent): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  func remove() {
    for file in files { unlink(file) }
    rmdir(path)
  }

  /// - Returns: the file's path.
  @discardableResult
  func write(_ text: String, to name: String) throws(ProgramError) -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ProgramError("cannot write \(file): \(String(cString: strerror(errno)))") }
    files.append(file)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    // A regular file takes a few kilobytes whole or not at all (the disk is full).
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw ProgramError("cannot write \(file): \(String(cString: strerror(errno)))")
    }
    return file
  }
}

/// Why a command failed, in one line.
struct ProgramError: Error, Sendable {
  var message: String

  init(_ message: String) { self.message = message }
}
