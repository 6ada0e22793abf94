import Bytes
import Configuration
import EventLoops
import HTTP2
import Metrics

/// One HTTP/2 connection to an endpoint, shared by the exchanges of its loop.
///
/// It carries as many as the upstream allows at the same time. When the upstream goes away, what it has not looked at is
/// sent elsewhere and the rest is answered; then it ends.
final class HTTP2UpstreamConnection: TickFlushing {
  enum State {
    case connecting
    case open
    case closed
  }

  /// Held, see ``UpstreamConnection``.
  let endpoint: EndpointPool
  let worker: Worker
  let session: HTTP2Session
  private(set) var state = State.connecting
  private var opening: ConnectionOpening?
  private var wire: HTTP2Wire?
  /// Exchanges that wait for the connection to open, or to know how many it takes.
  private var waiting: [HTTP2UpstreamStream] = []
  private var live: [ObjectIdentifier: HTTP2UpstreamStream] = [:]
  /// Exchanges whose input is looked at when the tick ends.
  private var undelivered: [HTTP2UpstreamStream] = []
  private var isFlushing = false
  private var carried = 0
  private var hasSettings = false
  private let openedAt: Instant
  private var lastReceived: Instant
  /// Whether a whole call has been given up without that anything came: the peer may be gone, and nobody has said so.
  private var isSilent = false
  /// Whether it is counted as active.
  private var isBusy = false
  private lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  /// Streams at the same time, whatever the upstream allows.
  private static let maximumStreams = 1000
  /// How long nothing has to have come for it to be silent; who gives up sooner knows nothing of it.
  private static let silence: Duration = .milliseconds(500)
  /// How many exchanges may wait for it to open.
  private static let maximumWaiting = 100

  init(
    endpoint: EndpointPool, worker: Worker, session: HTTP2Session, transport: consuming Transport
  ) throws(SystemError) {
    self.endpoint = endpoint
    self.worker = worker
    self.session = session
    openedAt = worker.loop.now
    lastReceived = openedAt
    opening = try ConnectionOpening(endpoint: endpoint, transport: transport, owner: self)
    session.delegate = self
  }

  // MARK: Exchanges

  /// Whether it can take another exchange now or when it is open.
  var hasRoom: Bool {
    switch state {
    case .connecting:
      waiting.count < Swift.min(Self.maximumWaiting, endpoint.settings.maximumRequestsPerConnection ?? .max)
    case .open where !hasSettings:
      !session.peerGoesAway && waiting.count < Self.maximumWaiting && !isWornOut && !isSilent
    case .open: takesMore
    case .closed: false
    }
  }

  private var takesMore: Bool { isLastResort && !isSilent }

  /// Whether it can take another exchange where no connection more may be opened: a silent one is better than none.
  var isLastResort: Bool { state == .open && hasSettings && hasStreams && !isWornOut }

  private var hasStreams: Bool {
    !session.peerGoesAway && !session.hasSaidGoAway
      && session.openStreams < Swift.min(session.peerMaximumStreams, Self.maximumStreams)
  }

  /// Whether it gets no further exchanges: for its age, or for how many it has carried.
  private var isWornOut: Bool {
    if let most = endpoint.settings.maximumRequestsPerConnection, carried + waiting.count >= most { return true }
    if let age = endpoint.settings.maximumConnectionAge { return worker.loop.now >= openedAt + age }
    return false
  }

  /// The first exchange need not wait for the upstream's settings; more could be more than it takes.
  private var mayBegin: Bool { state == .open && (hasSettings || live.isEmpty) }

  var isIdle: Bool { live.isEmpty && waiting.isEmpty }

  func carry(_ attempt: Attempt) {
    let exchange = HTTP2UpstreamStream(connection: self, attempt: attempt)
    becameBusy()
    if mayBegin {
      begin(exchange)
    } else {
      waiting.append(exchange)
      attempt.assign(exchange)
    }
  }

  /// Begins what waits, as far as there is room; the rest looks for another place.
  private func beginWaiting() {
    let exchanges = waiting
    waiting = []
    for exchange in exchanges {
      if hasStreams {
        begin(exchange)
      } else if session.peerMaximumStreams == 0 {
        exchange.connectionFailed(
          UpstreamFailure(kind: .refused, reason: "\(endpoint.name): takes no streams", nothingSent: true))
      } else if let attempt = exchange.giveUp() {
        endpoint.serveAgain(attempt)
      }
    }
    if isIdle { becameIdle() }
  }

  private func begin(_ exchange: HTTP2UpstreamStream) {
    live[ObjectIdentifier(exchange)] = exchange
    let isReused = carried > 0
    carried += 1
    guard !exchange.begin(reused: isReused) else { return }
    exchange.connectionFailed(
      UpstreamFailure(kind: .refused, reason: "\(endpoint.name): takes no more streams", nothingSent: true))
    ended(exchange)
  }

  func forget(_ exchange: HTTP2UpstreamStream) {
    waiting.removeAll { $0 === exchange }
    if isIdle { becameIdle() }
  }

  func ended(_ exchange: HTTP2UpstreamStream) {
    guard live.removeValue(forKey: ObjectIdentifier(exchange)) != nil, isIdle else { return }
    becameIdle()
  }

  /// An exchange that began then was given up. If nothing has come since, others are carried elsewhere from now on, until
  /// something does: a connection whose peer is gone without a word would fail them all.
  func gaveUp(since moment: Instant) {
    guard state == .open, lastReceived < moment, worker.loop.now >= moment + Self.silence else { return }
    isSilent = true
  }

  private func becameBusy() {
    guard !isBusy else { return }
    isBusy = true
    if state == .open, hasSettings { timer.cancel() }
    endpoint.countBusy(1)
  }

  private func becameIdle() {
    guard isBusy, state != .closed else { return }
    isBusy = false
    endpoint.countBusy(-1)
    if state == .open, hasSettings { timer.schedule(after: worker.timeouts.upstreamIdle) }
    let isUseless = session.peerGoesAway || session.peerMaximumStreams == 0 || isWornOut || isSilent
    if isUseless || endpoint.isRetired || worker.isDraining || endpoint.upstream.connections.isWaitedFor {
      endWhenFlushed()
    }
  }

  func deliverLater(_ exchange: HTTP2UpstreamStream) {
    if undelivered.capacity == 0 { swap(&undelivered, &worker.spareExchanges) }
    undelivered.append(exchange)
    guard !isFlushing else { return }
    isFlushing = true
    worker.loop.flushAtTickEnd(self)
  }

  /// Not left to the wire: what has come is given on also when nothing can be sent, and when the wire is gone.
  func flush() {
    isFlushing = false
    var exchanges: [HTTP2UpstreamStream] = []
    swap(&exchanges, &undelivered)
    for exchange in exchanges { exchange.deliver() }
    exchanges.removeAll(keepingCapacity: true)
    worker.spareExchanges = exchanges
  }

  func scheduleFlush() { wire?.scheduleFlush() }

  private func timeIsUp() {
    switch state {
    case .open where !hasSettings: fail(.closed, "no settings in time")
    case .open where isIdle:
      guard endpoint.keepsIdle, !isWornOut else { return endWhenFlushed() }
      timer.schedule(after: worker.timeouts.upstreamIdle)
    case .connecting, .open, .closed: break
    }
  }

  // MARK: Ending

  /// Closes it if nothing runs on it, and nothing will.
  func closeIfWornOut() {
    if isIdle, isWornOut { close() }
  }

  /// Closes it if nothing runs on it; else it ends when that is done.
  func closeIfIdle() {
    if isIdle { close() }
  }

  private func endWhenFlushed() {
    session.goAway()
    scheduleFlush()
  }

  private func fail(_ kind: UpstreamFailure.Kind, _ reason: String) {
    let (exchanges, unsent) = (Array(live.values), waiting)
    close()
    for exchange in unsent {
      exchange.connectionFailed(UpstreamFailure(kind: .connect, reason: "\(endpoint.name): \(reason)"))
    }
    for exchange in exchanges {
      exchange.connectionFailed(UpstreamFailure(kind: kind, reason: "\(endpoint.name): \(reason)"))
    }
  }

  private func close() {
    guard state != .closed else { return }
    let wasIdle = !isBusy
    state = .closed
    timer.cancel()
    opening?.cancel()
    opening = nil
    wire?.close()
    wire = nil
    waiting = []
    live = [:]
    endpoint.closed(self, wasIdle: wasIdle)
  }
}

extension HTTP2UpstreamConnection: OpeningOwner {
  func opened(_ transport: consuming Transport, _ registration: Registration) {
    opening = nil
    let hasUnread = transport.hasUnread
    state = .open
    worker.loop.change(registration, to: [.readable])
    let wire = HTTP2Wire(
      session: session, worker: worker, owner: self, transport: transport, registration: registration)
    self.wire = wire
    wire.scheduleFlush()
    // Its settings have to come within the time of a connection too.
    timer.schedule(after: endpoint.connectTimeout)
    if !waiting.isEmpty { begin(waiting.removeFirst()) }
    // What came with the end of the handshake is not announced again.
    if hasUnread { wire.receive() }
  }

  func openingFailed(_ reason: String) { fail(.connect, reason) }
}

extension HTTP2UpstreamConnection: HTTP2WireOwner {
  func wireReceived(_ wire: HTTP2Wire) {
    lastReceived = worker.loop.now
    if isSilent, session.failure == nil {
      isSilent = false
      endpoint.roomAppeared()
    }
    guard session.failure != nil else { return }
    // The GOAWAY that says so goes first, if it can.
    wire.flush()
    fail(.malformed, "ended for a fault of the upstream")
  }

  func wireFlushed(_ wire: HTTP2Wire) {
    // Nothing runs when it ended in peace.
    if wire.isDone { fail(.malformed, "ended for a fault of the upstream") }
  }

  func wireClosed(_ wire: HTTP2Wire, _ reason: String) { fail(.closed, reason) }
}

extension HTTP2UpstreamConnection: HTTP2SessionDelegate {
  func session(_ session: HTTP2Session, opened stream: HTTP2Stream) {}
  func session(_ session: HTTP2Session, refused stream: HTTP2Stream, _ fault: HTTP2Fault) {}

  func session(_ session: HTTP2Session, fault: HTTP2Fault) {
    worker.metrics.connections.http2Fault(fault, shard: worker.index)
  }

  func sessionGoesAway(_ session: HTTP2Session, _ code: HTTP2ErrorCode) {
    if isIdle { endWhenFlushed() } else { beginWaiting() }
    endpoint.roomAppeared()
  }

  func sessionSettingsChanged(_ session: HTTP2Session) {
    if !hasSettings {
      // Until now the timer waited for them.
      hasSettings = true
      timer.cancel()
      beginWaiting()
      if isIdle { timer.schedule(after: worker.timeouts.upstreamIdle) }
    }
    endpoint.roomAppeared()
  }

  func sessionStreamClosed(_ session: HTTP2Session) { endpoint.roomAppeared() }
}
