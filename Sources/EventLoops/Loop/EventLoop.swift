public import Bytes
import CLinux
import Glibc

/// One thread's loop: readiness of descriptors, timers, jobs from other threads.
///
/// Made, run and let go on one thread; all it holds belongs to that thread. A tick waits for events, tells the handlers,
/// runs the mailbox's jobs, fires the timers that are due, and then flushes what asked for it.
public final class EventLoop {
  public let name: String
  /// The way in for other threads.
  public let mailbox: Mailbox
  // Unchecked, as all of this file that says so (decision 52): the store, the table and the lists of the loop call
  // nobody while they are changed; what they let go is let go after.
  /// Buffers for those who read and write, lent for as long as there are bytes to handle.
  public let buffers = BufferStore()
  let timers = TimerQueue()

  let epoll: CInt
  @exclusivity(unchecked) var table = RegistrationTable()
  private let events: UnsafeMutablePointer<epoll_event>
  private static let eventCapacity = 512
  /// What the kernel carries for the mailbox; no slot's token.
  private static let mailboxToken = UInt64.max

  /// What lives on the loop, for the jobs that come through the mailbox.
  public var resident: AnyObject?

  @exclusivity(unchecked) private var waiting: [any TickFlushing] = []
  @exclusivity(unchecked) private var flushing: [any TickFlushing] = []
  private var date = HTTPDateCache()
  private var namesResolver: Resolver?
  private var isStopping = false

  public init(name: String, mailbox: Mailbox) throws(SystemError) {
    self.name = name
    self.mailbox = mailbox
    epoll = try required("epoll_create1") { epoll_create1(CInt(EPOLL_CLOEXEC)) }
    events = .allocate(capacity: Self.eventCapacity)
    var event = epoll_event()
    event.events = Readiness.readable.rawValue
    event.data.u64 = Self.mailboxToken
    try required("epoll_ctl") { [epoll] in epoll_ctl(epoll, EPOLL_CTL_ADD, mailbox.descriptor, &event) }
  }

  deinit {
    events.deallocate()
    close(epoll)
  }

  /// The time at the beginning of the tick.
  public var now: Instant { timers.now }

  /// Descriptors registered at present, those of the resolver included.
  var registrations: Int { table.count }

  /// Looks names up, with this loop's events and timers.
  public var resolver: Resolver {
    if let namesResolver { return namesResolver }
    let made = Resolver(loop: self, servers: nameServers)
    namesResolver = made
    return made
  }

  /// `address:port` with commas between; nil: those of the machine. A change ends the questions that are under way.
  public var nameServers: String? {
    didSet {
      guard nameServers != oldValue else { return }
      // Let go when nothing here is being changed any more: those who are told of its end may ask for the next one.
      let old = namesResolver.take()
      withExtendedLifetime(old) {}
    }
  }

  /// Appends the value of a `Date` field, 29 bytes.
  public func appendHTTPDate(to output: inout ByteBuffer) {
    date.append(WallClock.nowCoarse(), to: &output)
  }

  /// Has the object flushed when the events of this tick are handled; once per call, so that an object that is already
  /// waiting should not ask again.
  ///
  /// What asks while flushing is flushed in the same tick, a few rounds deep, else in the next one.
  public func flushAtTickEnd(_ object: any TickFlushing) {
    waiting.append(object)
  }

  /// Runs until ``stop()``; then drops all handlers, timers' dues and the resolver, and refuses further jobs.
  public func run() {
    timers.now = .now()
    // What was asked for before the start.
    flush()
    while !isStopping { tick() }
    shutDown()
  }

  /// Ends ``run()`` after the present tick. Other threads post a job that calls it.
  public func stop() {
    isStopping = true
  }

  private func tick() {
    let count = Int(epoll_wait(epoll, events, CInt(Self.eventCapacity), waitMilliseconds()))
    let code = errno
    timers.now = .now()
    if count < 0 && code != EINTR {
      assertionFailure("epoll_wait failed")
      isStopping = true
    }
    var isMailboxReady = false
    var index = 0
    while index < count {
      let event = events[index]
      index &+= 1
      if event.data.u64 == Self.mailboxToken {
        isMailboxReady = true
      } else if let handler = table.handler(of: Registration(token: event.data.u64)) {
        handler.ready(Readiness(rawValue: event.events))
      }
    }
    if isMailboxReady { mailbox.run(on: self) }
    fireTimers()
    flush()
  }

  private func waitMilliseconds() -> CInt {
    if !waiting.isEmpty || isStopping { return 0 }
    guard let deadline = timers.nextDeadline() else { return -1 }
    guard deadline > timers.now else { return 0 }
    // Rounded up: waking too early would only go round again.
    let rest = deadline.nanoseconds - timers.now.nanoseconds
    return CInt(clamping: rest / 1_000_000 + (rest % 1_000_000 == 0 ? 0 : 1))
  }

  private func fireTimers() {
    let limit = timers.sequence
    while let timer = timers.takeDue(armedBefore: limit) { timer.fire() }
  }

  private func flush() {
    var rounds = 0
    while !waiting.isEmpty && rounds < 4 {
      rounds &+= 1
      swap(&waiting, &flushing)
      var index = 0
      while index < flushing.count {
        let object = flushing[index]
        index &+= 1
        object.flush()
      }
      flushing.removeAll(keepingCapacity: true)
    }
  }

  private func shutDown() {
    mailbox.refuse()
    // Who is told of its end may ask once more.
    while let resolver = namesResolver.take() { withExtendedLifetime(resolver) {} }
    // Released outside of the table: the end of a handler may deregister others.
    var entries = table.removeAll()
    for entry in entries where entry.isInKernel { removeFromKernel(entry.descriptor) }
    entries.removeAll()
    let objects = waiting
    waiting = []
    withExtendedLifetime(objects) {}
  }
}
