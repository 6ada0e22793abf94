import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel
import Metrics
import RPC
import TransportSecurity

/// One HTTP/1.x connection of a client: reads requests one after the other and carries one call at a time.
///
/// Requests that come ahead of the answer (pipelining) wait in the input. An idle connection holds no buffers. What is
/// read is handled outside of `self` (see ``process()``), because a call may close the connection at any moment.
final class ClientConnection: ReadinessHandler, TickFlushing, OpenConnection {
  enum Phase {
    /// Before or inside a request head.
    case head
    case body
    /// The request is read; its answer is not yet sent.
    case reply
    /// The answer is whole, the request's body is not: the rest of it is dropped, so that the next request can be read.
    case leftover
    case tunnel
    /// The last answer is sent or on its way; what still comes is dropped.
    case discard
    case closed
  }

  let worker: Worker
  let gauge: Gauge
  let origin: ConnectionOrigin
  var caller: ConnectionOrigin? { origin }
  /// The names of the certificate that the client was shown, where they are checked.
  let coveredNames: CertificateNames?
  /// By the client's certificate; nil without one.
  let identity: ClientIdentity?
  var slot = -1
  // Unchecked, as all of this file that says so (decision 52): the transport and the buffers call nobody while they are
  // used.
  @exclusivity(unchecked) var transport: Transport?
  var registration: Registration?
  var phase = Phase.head

  @exclusivity(unchecked) var input = ByteBuffer()
  @exclusivity(unchecked) var output = QueuedOutput()
  /// Body bytes that go before what is in the output.
  var pipe: SplicePipe?
  /// Nil while the connection is idle.
  var incoming: IncomingRequest?
  var call: Call?
  var calls: [Call] { call.map { [$0] } ?? [] }
  var bufferCapacity: Int { input.capacity + output.capacity }
  var requests = 0

  // What may be read and written now.
  var readsPaused = false
  var wantsWritable = false
  var isProcessing = false
  var isFlushing = false
  var wasCongested = false
  var mayReceive = false
  var owesContinue = false

  // The answer under way.
  var answerFraming = BodyFraming.none
  var suppressesBody = false
  var closesAfterAnswer = false
  /// Bytes of the budget that the output takes.
  var reserved = 0
  var sentHead = false
  /// Whether more is to be expected of a client that was refused.
  var lingers = false

  // Times.
  let openedAt: Instant
  var lastProgress: Instant
  var requestStartedAt: Instant
  var rateWindowStart: Instant
  var rateWindowBytes = 0
  /// Bytes that were dropped of a body whose call has ended.
  var leftoverBytes = 0
  /// Until when bytes are dropped after the last answer; nil before that is written.
  var lingersUntil: Instant?
  var timerAt: Instant?
  // Not weak: a weak reference would send every count of this object through a side table. The timer dies with it.
  lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  /// Goes on with a connection on which no HTTP/2 is spoken.
  init(
    _ start: ConnectionStart, transport: consuming Transport, registration: Registration, input: consuming ByteBuffer
  ) {
    worker = start.worker
    gauge = start.gauges.http1
    origin = start.origin
    coveredNames = start.coveredNames
    identity = start.identity
    let now = worker.loop.now
    openedAt = start.openedAt
    lastProgress = now
    requestStartedAt = now
    rateWindowStart = now
    self.transport = consume transport
    self.registration = registration
    self.input = input
    arm(now + worker.timeouts.idle)
  }

  /// Whether no request is under way, not even its first byte.
  private var isIdle: Bool { phase == .head && input.isEmpty }

  // MARK: Readiness

  func ready(_ readiness: Readiness) {
    if readiness.contains(.writable), phase != .closed { flush() }
    guard phase != .closed else { return }
    let gone = readiness.meets(.broken)
    guard readiness.contains(.readable) || gone, !readsPaused || gone else { return }
    receive()
  }

  private func receive() {
    worker.lendBuffer(to: &input)
    switch transport?.read(into: &input, room: worker.readRoom) ?? .closed {
    case .transferred:
      if phase != .discard { lastProgress = worker.loop.now }
      process()
    case .wouldBlock: worker.recycle(&input)
    case .closed, .failed: clientLeft()
    }
  }

  /// The client closed or reset the connection: the call is cancelled, and with it what it asked of upstreams.
  private func clientLeft() {
    let call = call
    self.call = nil
    close()
    call?.clientLeft()
  }

  func endCalls(with error: RPCError) {
    call?.fail(error)
    // An answer that was on its way already goes on; half a request gets none.
    if phase != .closed, output.isEmpty, pipe == nil { close() }
  }

  func cut() { clientLeft() }

  func close() {
    guard phase != .closed else { return }
    phase = .closed
    timer.cancel()
    if let registration { worker.loop.deregister(registration) }
    registration = nil
    transport = nil
    if let pipe { worker.give(pipe) }
    pipe = nil
    worker.discard(&input)
    output.removeAll(givingTo: worker.loop.buffers)
    releaseReserved()
    // Not back to the pool: who closes may still be reading from it.
    incoming = nil
    worker.closed(self)
  }

  func updateInterest() {
    guard let registration else { return }
    var interest: Readiness = readsPaused ? [] : .readable
    if wantsWritable { interest.insert(.writable) }
    worker.loop.change(registration, to: interest)
  }

  func setReadsPaused(_ paused: Bool) {
    guard paused != readsPaused else { return }
    readsPaused = paused
    updateInterest()
  }

  /// The process is to end: an idle connection goes at once, a busy one says so in its answer.
  func drain() {
    // A request that the kernel has already is not to be lost.
    if isIdle { receive() }
    if isIdle { endAfterFlush() }
  }
}
