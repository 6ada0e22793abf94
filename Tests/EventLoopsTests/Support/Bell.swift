import Dispatch

/// Counts, and lets a test wait for the next one.
final class Bell: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func ring() { semaphore.signal() }

  /// - Returns: false when nothing came for two minutes.
  func wait() -> Bool { semaphore.wait(timeout: .now() + .seconds(120)) == .success }

  /// Whether one more comes within a moment. True is a failure for certain; false is none.
  func ringsAgain() -> Bool { semaphore.wait(timeout: .now() + .milliseconds(150)) == .success }
}
