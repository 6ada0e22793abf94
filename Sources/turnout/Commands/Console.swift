import Glibc

/// Where a command writes: answers to standard output, all else to standard error.
struct Console: Sendable {
  var out: @Sendable (String) -> Void
  var error: @Sendable (String) -> Void

  static let standard = Console(out: { write($0, to: STDOUT_FILENO) }, error: { write($0, to: STDERR_FILENO) })

  /// Writes all of it, unbuffered. A closed pipe ends it: there is nobody left to tell.
  private static func write(_ text: String, to descriptor: CInt) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}
