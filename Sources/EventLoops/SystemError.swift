import CLinux
import Glibc

/// A system call that failed: which one, and its errno.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the call, as in the manual.
  public let call: String
  /// The errno value.
  public let code: CInt

  public init(call: String, code: CInt) {
    self.call = call
    self.code = code
  }

  /// What the code means, in the words of the C library.
  public var reason: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      guard let start = text.baseAddress else { return "error \(code)" }
      clinux_error_text(code, start, text.count)
      return String(cString: start)
    }
  }

  public var description: String { "\(call): \(reason)" }

  /// Whether the process or the machine has no descriptors left.
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
}

/// Makes a system call again for as long as signals interrupt it.
///
/// - Returns: its result, or the negated errno.
@inline(__always)
func uninterrupted(_ body: () -> Int) -> Int {
  while true {
    let result = body()
    if result >= 0 { return result }
    let code = errno
    if code == EINTR { continue }
    // A descriptor that is not open is our own fault: somebody closed it twice or used it too long.
    assert(code != EBADF, "system call on a closed descriptor")
    return -Int(code)
  }
}

/// Makes a system call that should succeed.
@discardableResult
func required(_ call: String, _ body: () -> CInt) throws(SystemError) -> CInt {
  let result = uninterrupted { Int(body()) }
  if result < 0 { throw SystemError(call: call, code: CInt(-result)) }
  return CInt(result)
}
