import EventLoops
import Synchronization

/// Sends bytes from a thread of its own, while the test receives.
final class Sender {
  private let thread: LoopThread?

  init(_ client: RawClient, _ bytes: [UInt8]) {
    nonisolated(unsafe) let client = client
    thread = try? LoopThread.start(name: "sender") { client.send(bytes) }
  }

  func join() { thread?.join() }
}
