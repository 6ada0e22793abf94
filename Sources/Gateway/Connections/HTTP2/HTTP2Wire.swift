import Bytes
import EventLoops
import HTTP2

/// Who a wire belongs to: the client's connection or the upstream's.
protocol HTTP2WireOwner: AnyObject {
  /// All that a read brought has been handled.
  func wireReceived(_ wire: HTTP2Wire)
  /// Bytes were written, as many as the socket took.
  func wireFlushed(_ wire: HTTP2Wire)
  /// The peer ended the connection, or it broke. The wire is closed.
  func wireClosed(_ wire: HTTP2Wire, _ reason: String)
}

/// An HTTP/2 session on its transport: what is readable goes in, and once a tick what the session has to say goes out
/// in one write.
///
/// Reading never stops, because the streams' windows bound what can come. An idle wire holds no buffers.
final class HTTP2Wire: ReadinessHandler, TickFlushing {
  let session: HTTP2Session
  private let worker: Worker
  private unowned let owner: any HTTP2WireOwner
  // Unchecked, as all of this file that says so (decision 52): the transport and the buffer call nobody while they are
  // used.
  @exclusivity(unchecked) private var transport: Transport?
  private var registration: Registration?
  @exclusivity(unchecked) private var output = ByteBuffer()
  private var wantsWritable = false
  private var isFlushing = false
  /// Whether nothing more is to be sent: what comes is dropped.
  private var isEnding = false
  /// When bytes last left, or since when they cannot.
  private(set) var lastProgress: Instant

  /// Bytes of frames that are made for one write.
  private static let batch = 48 << 10
  /// Writes of one turn, so that others get theirs.
  private static let rounds = 8

  init(
    session: HTTP2Session, worker: Worker, owner: any HTTP2WireOwner, transport: consuming Transport,
    registration: Registration
  ) {
    self.session = session
    self.worker = worker
    self.owner = owner
    self.transport = consume transport
    self.registration = registration
    lastProgress = worker.loop.now
    worker.loop.handOver(registration, to: self)
  }

  var bufferCapacity: Int { output.capacity + session.madeCapacity }
  var isClosed: Bool { registration == nil }
  /// Whether the peer does not take what there is to send.
  var isBlocked: Bool { wantsWritable }

  func ready(_ readiness: Readiness) {
    if readiness.contains(.writable) { flush() }
    guard !isClosed, readiness.contains(.readable) || readiness.meets(.broken) else { return }
    receive()
  }

  /// One read, and what no readiness will announce: the end of a session behind its last data.
  func receive() {
    receiveOnce()
    receiveUnread()
  }

  /// Also for who has read the first bytes elsewhere.
  func receiveUnread() {
    while transport?.hasUnread == true { receiveOnce() }
  }

  private func receiveOnce() {
    guard !isClosed else { return }
    var buffer = ByteBuffer()
    worker.lendBuffer(to: &buffer)
    let outcome = transport?.read(into: &buffer, room: worker.readRoom) ?? .closed
    switch outcome {
    case .transferred: handle(&buffer)
    case .wouldBlock: break
    case .closed: lost("closed")
    case .failed(let error): lost("reading: \(error)")
    }
    worker.give(buffer)
  }

  func handle(_ buffer: inout ByteBuffer) {
    guard !isEnding else {
      buffer.removeAll()
      return
    }
    session.receive(&buffer, now: worker.loop.now.nanoseconds)
    guard !isClosed else { return }
    owner.wireReceived(self)
    if session.wantsToSend || session.isFinished { scheduleFlush() }
  }

  // MARK: Sending

  func scheduleFlush() {
    guard !isFlushing, !isClosed, !wantsWritable else { return }
    isFlushing = true
    worker.loop.flushAtTickEnd(self)
  }

  func flush() {
    isFlushing = false
    guard !isClosed else { return }
    var buffer = ByteBuffer()
    swap(&buffer, &output)
    var isBlocked = false
    var round = 0
    while !isClosed, !isBlocked {
      if buffer.isEmpty {
        guard session.wantsToSend else { break }
        round += 1
        guard round <= Self.rounds else { break }
        worker.lendBuffer(to: &buffer)
        session.send(into: &buffer, limit: Self.batch)
        guard !isClosed, !buffer.isEmpty else { break }
      }
      switch transport?.write(from: &buffer) ?? .closed {
      case .transferred:
        lastProgress = worker.loop.now
        isBlocked = !buffer.isEmpty
      case .wouldBlock: isBlocked = true
      case .closed: lost("closed")
      case .failed(let error): lost("writing: \(error)")
      }
    }
    guard !isClosed else { return worker.give(buffer) }
    setWantsWritable(isBlocked)
    if isBlocked { swap(&buffer, &output) } else { worker.give(buffer) }
    if round > Self.rounds { scheduleFlush() }
    owner.wireFlushed(self)
  }

  private func setWantsWritable(_ wants: Bool) {
    guard wants != wantsWritable, let registration else { return }
    wantsWritable = wants
    lastProgress = worker.loop.now
    worker.loop.change(registration, to: wants ? [.readable, .writable] : [.readable])
  }

  /// Whether the session has ended and all it said is written.
  var isDone: Bool { session.isFinished && output.isEmpty }

  // MARK: Ending

  /// Sends no more; false when the peer's bytes are all read, so that the transport can be closed without harm to what
  /// was sent.
  func finish() -> Bool {
    guard !isEnding, !isClosed else { return false }
    isEnding = true
    transport?.shutdownWriting()
    var buffer = ByteBuffer()
    worker.lendBuffer(to: &buffer)
    let outcome = transport?.read(into: &buffer, room: worker.readRoom) ?? .closed
    worker.give(buffer)
    if case .transferred = outcome { return true }
    return false
  }

  private func lost(_ reason: String) {
    close()
    owner.wireClosed(self, reason)
  }

  func close() {
    guard let registration else { return }
    session.delegate = nil
    worker.loop.deregister(registration)
    self.registration = nil
    transport = nil
    worker.discard(&output)
  }
}
