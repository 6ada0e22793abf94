import Glibc

/// The content of one file, read at once when a configuration is read or compiled; never on the way of a request.
///
/// Only a regular file is read: a pipe, a device or a folder is refused at once, for whoever reads waits for nobody. All
/// reading of files in this program goes through here, but for the `.proto` sources that libprotobuf opens.
///
/// The memory is wiped at the end and whenever it moves, for the file may be a key.
package struct WholeFile: ~Copyable {
  private let content: Content

  /// - Parameters:
  ///   - limit: bytes of the largest file that is taken.
  ///   - mayBeEmpty: whether one without content is taken.
  package init(_ path: String, limit: Int, mayBeEmpty: Bool = true) throws(FileFault) {
    // Without O_NONBLOCK the opening of a pipe waits for who writes into it.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw FileFault(.unreadable(errno)) }
    defer { close(descriptor) }
    content = try Content(of: descriptor, limit: limit, mayBeEmpty: mayBeEmpty)
  }

  deinit { content.wipe() }

  /// Bytes of the file.
  package var count: Int { content.count }

  /// Calls the body with the content, which ends with this object.
  package func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(rebasing: content.memory[..<content.count]))
  }

  /// A copy of the content.
  package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Memory that is filled from a descriptor; whoever has it wipes it.
private struct Content {
  private(set) var memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  /// More room, for what grows or says nothing of its size (files of `/proc` do).
  private static let piece = 64 << 10

  init(of descriptor: CInt, limit: Int, mayBeEmpty: Bool) throws(FileFault) {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw FileFault(.unreadable(errno)) }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw FileFault(.notAFile) }
    let size = Int(facts.st_size)
    if size > limit { throw FileFault(.tooLarge(limit)) }
    // One more, so that the end is seen by a read that finds room.
    memory = .allocate(byteCount: size + 1, alignment: 1)
    do throws(FileFault) {
      try fill(from: descriptor, limit: limit)
      if count == 0, !mayBeEmpty { throw FileFault(.empty) }
    } catch {
      wipe()
      throw error
    }
  }

  /// What the file holds at this moment: it may have grown or shrunk since its size was asked for.
  private mutating func fill(from descriptor: CInt, limit: Int) throws(FileFault) {
    while true {
      let got = read(descriptor, memory.baseAddress.map { $0 + count }, memory.count - count)
      let code = errno
      if got < 0, code == EINTR { continue }
      guard got >= 0 else { throw FileFault(.unreadable(code)) }
      if got == 0 { return }
      count += got
      if count > limit { throw FileFault(.tooLarge(limit)) }
      if count == memory.count { grow() }
    }
  }

  private mutating func grow() {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: memory.count + max(memory.count, Self.piece), alignment: 1)
    larger.copyMemory(from: UnsafeRawBufferPointer(memory))
    wipe()
    memory = larger
  }

  func wipe() {
    if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
    memory.deallocate()
  }
}

/// Why a file cannot be had.
package struct FileFault: Error, Sendable, Equatable {
  /// What is wrong with it.
  package enum Kind: Sendable, Equatable {
    /// With the errno of the call that failed.
    case unreadable(CInt)
    /// Not a regular file.
    case notAFile
    /// With the limit, in bytes.
    case tooLarge(Int)
    case empty
  }

  package let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  /// Words to stand behind the file's name and a colon, without it.
  package var reason: String {
    switch kind {
    case .unreadable(let code): String(cString: strerror(code)).lowercased()
    case .notAFile: "it is not a file (a folder, a pipe or a device)"
    case .empty: "it is empty"
    case .tooLarge(let limit): "it is larger than \(limit) bytes"
    }
  }
}
