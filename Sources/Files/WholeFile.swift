import Glibc

/// The content of one file, read at once when a configuration is read or compiled; never on the way of a request.
///
/// The memory is wiped at the end and whenever it moves, for the file may be a key.
package struct WholeFile: ~Copyable {
  /// What is read.
  package enum Source: Sendable {
    /// Whatever the path names, a pipe too; waits for who writes into it.
    case any
    /// A file and nothing else: never waits.
    case regular
  }

  private var memory: UnsafeMutableRawBufferPointer
  /// Bytes of the file.
  package private(set) var count = 0

  /// Read anew at most this often for one byte more: of what says nothing of its size.
  private static let piece = 64 << 10

  /// - Parameter limit: bytes of the largest file that is taken.
  package init(_ path: String, limit: Int, _ source: Source = .any) throws(FileFault) {
    let waits = source == .any ? 0 : O_NONBLOCK
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | waits)
    guard descriptor >= 0 else { throw FileFault(.unreadable(errno)) }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw FileFault(.unreadable(errno)) }
    let isRegular = facts.st_mode & S_IFMT == S_IFREG
    if source == .regular, !isRegular { throw FileFault(.notAFile) }
    let size = isRegular ? Int(facts.st_size) : Self.piece
    if isRegular, size > limit { throw FileFault(.tooLarge(limit)) }
    // One more, so that the end is seen by a read that finds room.
    memory = .allocate(byteCount: max(1, size) + 1, alignment: 1)
    try fill(from: descriptor, limit: limit)
  }

  deinit { Self.wipe(memory) }

  private static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
    memory.deallocate()
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
    Self.wipe(memory)
    memory = larger
  }

  /// Calls the body with the content, which ends with this object.
  package func withUnsafeBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
  }

  /// A copy of the content.
  package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Why a file cannot be had.
package struct FileFault: Error, Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// With the errno of the call that failed.
    case unreadable(CInt)
    case notAFile
    /// With the limit, in bytes.
    case tooLarge(Int)
  }

  package let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  /// Words to stand behind the file's name and a colon, without it.
  package var reason: String {
    switch kind {
    case .unreadable(let code): String(cString: strerror(code)).lowercased()
    case .notAFile: "it is not a file"
    case .tooLarge(let limit): "it is larger than \(limit) bytes"
    }
  }
}
