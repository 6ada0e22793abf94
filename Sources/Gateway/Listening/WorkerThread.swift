import EventLoops

/// The outside of one worker: its thread, and the mailbox through which the process talks to it.
struct WorkerThread: Sendable {
  let mailbox: Mailbox
  private let thread: LoopThread

  /// Starts the loop on a thread of its own and publishes the first snapshot there.
  ///
  /// - Parameter ended: called on the worker's thread when it has drained and its loop has stopped.
  /// - Throws: when the loop cannot be made; `ended` is not called then.
  static func start(
    index: Int, shared: GatewayShared, snapshot: Snapshot, listeners: [ListenerState],
    ended: @escaping @Sendable () -> Void
  ) throws(SystemError) -> WorkerThread {
    let mailbox = try Mailbox()
    let thread = try LoopThread.running(name: "loop\(index)", mailbox: mailbox) { loop in
      let worker = Worker(
        index: index, loop: loop, shared: shared, snapshot: snapshot, refreshesResources: index == 0)
      loop.resident = worker
      worker.beginAskingRedis()
      worker.attend()
      for listener in listeners { worker.open(listener) }
    } end: { loop in
      (loop.resident as? Worker)?.closeUpstreams()
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
