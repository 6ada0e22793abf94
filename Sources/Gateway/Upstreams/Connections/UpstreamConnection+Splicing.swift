import Bytes
import EventLoops
import HTTP1

/// Long bodies that pass through: they go from socket to socket in the kernel.
extension UpstreamConnection {
  /// What is left of a body for which a pipe is worth its system calls.
  private static let spliceMinimum = 256 << 10

  /// Moves body bytes towards the client inside the kernel, if they may go so; false when they must be read.
  func spliceOnce() -> Bool {
    guard phase == .body, input.isEmpty, transport?.isSpliceable == true, let left = reader.remainingLength,
      left >= Self.spliceMinimum || isSplicing, let attempt, let pipe = attempt.pipe
    else { return false }
    switch transport?.splice(into: pipe, limit: min(left, SplicePipe.capacity)) ?? .closed {
    case .transferred(let count):
      isSplicing = true
      reader.skip(count)
      attempt.piped(count)
      if reader.isComplete { process() }
    case .wouldBlock: break
    case .closed: inputClosed()
    case .failed(let error): fail(.closed, "reading: \(error)")
    }
    return true
  }
}
