import EventLoops

/// The outside of one worker: its thread, and the mailbox through which the process talks to it.
struct WorkerThread: Sendable {
  let mailbox: Mailbox
  private let thread: LoopThread

  /// Starts the loop on a thread of its own and publishes the first snapshot there.
  ///
  /// - Parameter ended: called on the worker's thread when it has drained and its loop has stopped.
  static func start(
    index: Int, shared: GatewayShared, snapshot: Snapshot, listeners: [ListenerState],
    ended: @escaping @Sendable () -> Void
  ) throws(SystemError) -> WorkerThread {
    let mailbox = try Mailbox()
    // A job of the mailbox and not of the thread's own closure, which would hold the first snapshot and the listeners'
    // descriptors for as long as the thread runs.
    mailbox.post { loop in
      let worker = Worker(
        index: index, loop: loop, shared: shared, snapshot: snapshot, refreshesResources: index == 0)
      loop.resident = worker
      worker.beginAskingRedis()
      worker.attend()
      for listener in listeners { worker.open(listener) }
    }
    let thread = try LoopThread.start(name: "loop\(index)") {
      do throws(SystemError) {
        let loop = try EventLoop(name: "loop\(index)", mailbox: mailbox)
        loop.run()
        (loop.resident as? Worker)?.closeUpstreams()
        // They hold each other.
        loop.resident = nil
      } catch {
        shared.log.write(.error, "loop \(index) cannot run: \(error)")
      }
      ended()
    }
    return WorkerThread(mailbox: mailbox, thread: thread)
  }

  /// Runs something on the worker's loop.
  ///
  /// - Returns: false when the loop has ended: then the job is dropped.
  @discardableResult
  func post(_ job: @escaping @Sendable (Worker) -> Void) -> Bool {
    mailbox.post { loop in
      if let worker = loop.resident as? Worker { job(worker) }
    }
  }

  func join() { thread.join() }
}
