import Configuration
import EventLoops
import Metrics
import Synchronization

/// Accepts the connections of one listener on one loop.
///
/// The loops share one descriptor, of which the kernel wakes one at a time (EPOLLEXCLUSIVE). When there are no more
/// descriptors for clients, or as many connections as are allowed, it stops listening for a moment and leaves them in the
/// backlog.
final class Acceptor: ReadinessHandler {
  /// Connections taken in one turn, so that those that are open get theirs.
  private static let batch = 64
  private static let pause: Duration = .milliseconds(100)

  let listener: ListenerState
  private unowned let worker: Worker
  private var registration: Registration?
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in listen() }

  init(listener: ListenerState, worker: Worker) {
    self.listener = listener
    self.worker = worker
  }

  func listen() {
    guard registration == nil else { return }
    do {
      registration = try worker.loop.register(
        listener.socket.descriptor, [.readable], exclusive: true, handler: self)
    } catch {
      worker.log(.error, "cannot listen on \(listener.socket.address.text): \(error)")
      timer.schedule(after: Self.pause)
    }
  }

  func ready(_ readiness: Readiness) {
    for _ in 0..<Self.batch where registration != nil { if !acceptOne() { return } }
  }

  /// False when there is none to accept now.
  private func acceptOne() -> Bool {
    let connections = worker.shared.connections.load(ordering: .relaxed)
    guard connections < worker.limits.connections else { return pause(for: "connections") }
    guard worker.shared.descriptors.hasRoom(forClientOf: listener.socket, connections: connections) else {
      return pause(for: "descriptors")
    }
    switch listener.socket.accept() {
    case .socket(let socket, let peer):
      guard worker.shared.descriptors.allows(client: socket.descriptor) else { return pause(for: "descriptors") }
      worker.accepted(socket, from: peer, on: listener)
      return true
    case .wouldBlock: return false
    case .outOfDescriptors: return pause(for: "descriptors")
    case .failed(let error):
      worker.log(.warning, "accepting on \(listener.socket.address.text): \(error)")
      return true
    }
  }

  /// Accepts nothing for a moment.
  ///
  /// - Returns: false, as ``acceptOne()`` does then.
  private func pause(for reason: String) -> Bool {
    worker.metrics.connections.acceptPauses.child([reason]).add(1, shard: worker.index)
    stop()
    timer.schedule(after: Self.pause)
    return false
  }

  private func stop() {
    if let registration { worker.loop.deregister(registration) }
    registration = nil
  }

  /// Takes what the kernel has accepted already, then listens no more.
  func close() {
    timer.cancel()
    if registration != nil { while acceptOne(), registration != nil {} }
    timer.cancel()
    stop()
  }
}
