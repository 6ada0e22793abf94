import EventLoops
import Metrics
import Migration
import Redis
import Synchronization

/// Shares what operators, guards and ramps change with other replicas, through Redis, on a thread of its own.
///
/// Without Redis each replica goes on with what it knows; when it is back the newest change of each route wins.
final class StageSharing: Sendable {
  private let mailbox: Mailbox
  private let thread: LoopThread
  private let lead: RampLead

  /// - Parameter writer: who this is, for the lead of ramps.
  static func start(
    endpoint: RedisEndpoint, keeper: StageKeeper, writer: String, lead: RampLead, log: GatewayLog,
    presence: RedisPresence, metrics: GatewayMetrics
  ) throws(SystemError) -> StageSharing {
    let mailbox = try Mailbox()
    let thread = try LoopThread.running(name: "stages", mailbox: mailbox) { loop in
      let sync = StageSync(
        endpoint: endpoint, keeper: keeper, writer: writer, lead: lead, loop: loop, log: log, presence: presence,
        metrics: metrics)
      loop.resident = sync
      sync.start()
    } end: { loop in
      (loop.resident as? StageSync)?.close()
    }
    let sharing = StageSharing(mailbox: mailbox, thread: thread, lead: lead)
    keeper.share { [weak sharing] document in sharing?.tell(document) }
    return sharing
  }

  private init(mailbox: Mailbox, thread: LoopThread, lead: RampLead) {
    self.mailbox = mailbox
    self.thread = thread
    self.lead = lead
  }

  private func tell(_ document: StageDocument) {
    mailbox.post { loop in (loop.resident as? StageSync)?.push(document) }
  }

  /// Gives the lead away, ends the thread, and waits for it.
  func stop() {
    mailbox.post { loop in
      guard let sync = loop.resident as? StageSync else { return loop.stop() }
      sync.leave { [unowned loop] in loop.stop() }
    }
    thread.join()
    lead.isOurs = true
  }
}

/// Whether this replica is the one that advances ramps. Without others, or without Redis, each is its own.
final class RampLead: Sendable {
  private let flag = Atomic(true)

  var isOurs: Bool {
    get { flag.load(ordering: .relaxed) }
    set { flag.store(newValue, ordering: .relaxed) }
  }
}
