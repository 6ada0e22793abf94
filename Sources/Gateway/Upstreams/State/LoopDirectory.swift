import EventLoops
import Synchronization

/// How the loops of the process reach each other.
final class LoopDirectory: Sendable {
  private let mailboxes = Mutex<[Int: Mailbox]>([:])

  func enter(_ index: Int, _ mailbox: Mailbox) { mailboxes.withLock { $0[index] = mailbox } }

  /// Runs a job on every loop but one.
  func post(except index: Int, _ job: @escaping @Sendable (Worker) -> Void) {
    let others = mailboxes.withLock { mailboxes in mailboxes.filter { $0.key != index }.map(\.value) }
    for mailbox in others {
      mailbox.post { loop in
        if let worker = loop.resident as? Worker { job(worker) }
      }
    }
  }
}
