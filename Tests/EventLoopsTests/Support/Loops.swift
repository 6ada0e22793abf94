import Glibc
import Testing

@testable import EventLoops

/// Makes a loop, has the body set it up, and runs it on this thread until it is stopped.
///
/// A loop that nobody stops is stopped after two minutes, as a failure.
func withLoop(_ name: String = "test", _ body: (EventLoop) throws -> Void) throws {
  let loop = try EventLoop(name: name, mailbox: Mailbox())
  let guardian = Timer(loop: loop) {
    Issue.record("the loop was not stopped")
    loop.stop()
  }
  guardian.schedule(after: .seconds(120))
  try body(loop)
  loop.run()
  guardian.cancel()
}

/// Has the kernel refuse to watch anything for the loop while the body runs.
func withBrokenEpoll(_ loop: EventLoop, _ body: () throws -> Void) throws {
  let kept = dup(loop.epoll)
  let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
  try #require(kept >= 0 && other >= 0 && dup2(other, loop.epoll) == loop.epoll)
  defer {
    dup2(kept, loop.epoll)
    close(kept)
    close(other)
  }
  try body()
}

/// A handler that is a closure.
final class Watch: ReadinessHandler {
  private let action: (Readiness) -> Void

  init(_ action: @escaping (Readiness) -> Void) {
    self.action = action
  }

  func ready(_ readiness: Readiness) {
    action(readiness)
  }
}

/// Two connected sockets.
struct Pair: ~Copyable {
  let left: Socket
  let right: Socket

  init() throws {
    var descriptors: (CInt, CInt) = (-1, -1)
    let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let result = withUnsafeMutableBytes(of: &descriptors) { bytes in
      bytes.withMemoryRebound(to: CInt.self) { socketpair(AF_UNIX, type, 0, $0.baseAddress) }
    }
    if result != 0 { throw SystemError(call: "socketpair", code: errno) }
    left = Socket(owning: descriptors.0)
    right = Socket(owning: descriptors.1)
  }
}

/// Keeps the sockets open until here.
func keep(_ pair: borrowing Pair) {}

/// Bytes that a mistake in order or place would not leave equal.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 2_654_435_761 | 1
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state >> 24)
  }
}
