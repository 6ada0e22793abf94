import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTP2
import HTTPModel
import Metrics
import RPC
import TransportSecurity

/// One HTTP/2 connection of a client. Each of its streams carries a call; the connection has what they share: the
/// session, the wire, one timer.
final class HTTP2ClientConnection: OpenConnection, TickFlushing {
  let worker: Worker
  let gauge: Gauge
  let origin: ConnectionOrigin
  let coveredNames: CertificateNames?
  /// By the client's certificate; nil without one.
  let identity: ClientIdentity?
  var slot = -1
  private(set) var wire: HTTP2Wire?
  let session: HTTP2Session
  // Unchecked, as all of this file that says so (decision 52): the lists are not gone through where they stand, and
  // what is taken out is still held.
  /// Streams whose call runs, or whose answer is not sent whole.
  @exclusivity(unchecked) private(set) var live: [HTTP2ClientStream] = []
  /// Streams whose input is looked at when the tick ends.
  @exclusivity(unchecked) private var waiting: [HTTP2ClientStream] = []
  private var isFlushing = false
  private var requests = 0
  private let openedAt: Instant
  private(set) var idleSince: Instant
  private var sectionBeganAt: Instant?
  private var lingersUntil: Instant?
  private var timerAt: Instant?
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  /// How long bytes are dropped after the last one was sent, before the connection is closed over them.
  private static let lingering: Duration = .seconds(2)

  /// - Returns: nil when there is no memory for a session.
  init?(_ start: ConnectionStart, transport: consuming Transport, registration: Registration) {
    worker = start.worker
    gauge = start.gauges.http2
    origin = start.origin
    coveredNames = start.coveredNames
    identity = start.identity
    openedAt = start.openedAt
    idleSince = worker.loop.now
    guard let session = HTTP2Session(role: .server, settings: worker.http2Settings, workspace: worker.http2) else {
      return nil
    }
    self.session = session
    wire = HTTP2Wire(
      session: session, worker: worker, owner: self, transport: transport, registration: registration)
    session.delegate = self
  }

  /// Handles the bytes that came first, the preface with them.
  func begin(_ bytes: consuming ByteBuffer) {
    var bytes = bytes
    arm(worker.loop.now + worker.timeouts.idle)
    // An idle connection, and one whose streams last, is told in time.
    if worker.timeouts.connectionAge > .zero { arm(openedAt + worker.timeouts.connectionAge) }
    wire?.handle(&bytes)
    worker.give(bytes)
    wire?.receiveUnread()
  }

  var calls: [Call] { live.compactMap(\.call) }
  var bufferCapacity: Int {
    live.reduce(wire?.bufferCapacity ?? 0) { $0 + $1.stream.input.capacity + $1.stream.output.capacity }
  }

  func scheduleFlush() { wire?.scheduleFlush() }

  // MARK: Streams

  func ended(_ stream: HTTP2ClientStream) {
    let place = stream.place
    guard place >= 0, place < live.count, live[place] === stream else { return }
    stream.place = -1
    let last = live.removeLast()
    if last !== stream {
      live[place] = last
      last.place = place
    }
    guard live.isEmpty else { return }
    idleSince = worker.loop.now
    arm(idleSince + worker.timeouts.idle)
  }

  func deliverLater(_ stream: HTTP2ClientStream) {
    if waiting.capacity == 0 { swap(&waiting, &worker.spareStreams) }
    waiting.append(stream)
    guard !isFlushing else { return }
    isFlushing = true
    worker.loop.flushAtTickEnd(self)
  }

  /// Not left to the wire: what has come is given on also when nothing can be sent.
  func flush() {
    isFlushing = false
    var streams: [HTTP2ClientStream] = []
    swap(&streams, &waiting)
    for stream in streams { stream.deliver() }
    streams.removeAll(keepingCapacity: true)
    worker.spareStreams = streams
  }

  private var isPastItsAge: Bool {
    let age = worker.timeouts.connectionAge
    return age > .zero && worker.loop.now >= openedAt + age
  }

  // MARK: Times

  /// Makes sure that the one timer fires at this moment at the latest.
  func arm(_ moment: Instant) {
    if wire == nil { return }
    if let timerAt, timerAt <= moment { return }
    timerAt = moment
    timer.schedule(at: moment)
  }

  private func timeIsUp() {
    timerAt = nil
    let now = worker.loop.now
    if let lingersUntil {
      if now >= lingersUntil { close() } else { arm(lingersUntil) }
      return
    }
    for stream in live {
      if let next = stream.check(now) { arm(next) }
      if wire == nil { return }
    }
    checkConnection(now)
  }

  private func checkConnection(_ now: Instant) {
    if isPastItsAge { goAway() }
    if let began = sectionBeganAt {
      let end = began + worker.timeouts.requestHead
      if now >= end {
        worker.metrics.connections.slowRequests.add(1, shard: worker.index)
        cut()
        return
      }
      arm(end)
    }
    if let wire, wire.isBlocked {
      let end = wire.lastProgress + worker.timeouts.streamIdle
      if now >= end { return cut() }
      arm(end)
    }
    if live.isEmpty {
      let end = idleSince + worker.timeouts.idle
      if now >= end { goAway() } else { arm(end) }
    }
    let age = worker.timeouts.connectionAge
    if age > .zero, !session.hasSaidGoAway { arm(openedAt + age) }
  }

  // MARK: Ending

  /// No more streams; those that run are answered, then the connection ends.
  func goAway() {
    guard wire != nil, !session.hasSaidGoAway else { return }
    session.goAway()
    scheduleFlush()
  }

  func drain() {
    // Requests that the kernel has already are not to be lost.
    wire?.receive()
    goAway()
  }

  func endCalls(with error: RPCError) {
    for call in calls { call.fail(error) }
    goAway()
    scheduleFlush()
  }

  func cut() {
    wire?.close()
    leave()
  }

  private func endIfDone() {
    guard let wire, wire.isDone, lingersUntil == nil else { return }
    if wire.finish() {
      let end = worker.loop.now + Self.lingering
      lingersUntil = end
      arm(end)
      leaveStreams()
    } else {
      close()
    }
  }

  private func close() {
    wire?.close()
    leave()
  }

  /// The connection is gone: its calls are cancelled.
  private func leave() {
    guard wire != nil else { return }
    wire = nil
    timer.cancel()
    leaveStreams()
    worker.closed(self)
  }

  private func leaveStreams() {
    let streams = live
    live = []
    waiting = []
    for stream in streams { stream.connectionEnded() }
  }
}

extension HTTP2ClientConnection: HTTP2WireOwner {
  func wireReceived(_ wire: HTTP2Wire) {
    if session.isInsideSection {
      if sectionBeganAt == nil {
        let now = worker.loop.now
        sectionBeganAt = now
        arm(now + worker.timeouts.requestHead)
      }
    } else {
      sectionBeganAt = nil
    }
    if session.failure != nil { leaveStreams() }
  }

  func wireFlushed(_ wire: HTTP2Wire) {
    if wire.isBlocked { arm(wire.lastProgress + worker.timeouts.streamIdle) }
    endIfDone()
  }

  func wireClosed(_ wire: HTTP2Wire, _ reason: String) { leave() }
}

extension HTTP2ClientConnection: HTTP2SessionDelegate {
  func session(_ session: HTTP2Session, opened stream: HTTP2Stream) {
    requests += 1
    begin(stream).begin()
    let limit = worker.limits.requestsPerConnection
    if limit > 0 && requests >= limit || isPastItsAge { goAway() }
  }

  func session(_ session: HTTP2Session, refused stream: HTTP2Stream, _ fault: HTTP2Fault) {
    let status = fault.status ?? 400
    begin(stream).refuse(RPCError(.invalidArgument, fault.reason, httpStatus: status))
    worker.logRefused(self, status: status, reason: fault.reason)
  }

  private func begin(_ stream: HTTP2Stream) -> HTTP2ClientStream {
    let client = HTTP2ClientStream(connection: self, stream: stream)
    stream.owner = client
    client.place = live.count
    live.append(client)
    return client
  }

  func session(_ session: HTTP2Session, fault: HTTP2Fault) {
    worker.metrics.connections.http2Fault(fault, shard: worker.index)
    if fault.scope == .connection {
      worker.logOfPeer("ended an HTTP/2 connection of \(origin.address.host): \(fault.reason)")
    }
  }

  /// What the client takes no more are pushes, of which there are none.
  func sessionGoesAway(_ session: HTTP2Session, _ code: HTTP2ErrorCode) {}
  func sessionSettingsChanged(_ session: HTTP2Session) {}
  func sessionStreamClosed(_ session: HTTP2Session) {}
}
