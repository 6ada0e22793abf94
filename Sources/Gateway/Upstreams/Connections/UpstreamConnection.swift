import Bytes
import Configuration
import EventLoops
import HTTP1
import HTTPModel

/// One HTTP/1.1 connection to an endpoint; carries one exchange at a time.
///
/// It goes back to its endpoint's idle ones only if request and answer were whole and nothing came after; else it is
/// closed. An idle connection holds no buffers, and its end is noticed at once, because it stays registered.
final class UpstreamConnection: ReadinessHandler, UpstreamExchange {
  enum State {
    /// No request may be written yet: the socket or its TLS handshake is not done.
    case connecting
    /// It carries an exchange.
    case active
    case idle
    case closed
  }

  /// What the next bytes of the answer are.
  enum Phase {
    case head
    case body
    /// After 101: bytes as they are, until one side ends.
    case tunnel
  }

  /// Held: after a reload has taken the endpoint out, the last exchanges on it still end here. ``close()`` lets the
  /// connection go from there, so that this is no cycle for longer than that.
  let endpoint: EndpointPool
  let worker: Worker
  // Unchecked, as all of this file that says so (decision 52): the transport, the buffers and the readers call nobody
  // while they are used.
  @exclusivity(unchecked) var transport: Transport?
  var registration: Registration?
  var state = State.connecting
  var phase = Phase.head
  /// The exchange it carries.
  var attempt: Attempt?
  /// Whether an exchange was over it before the present one.
  var wasReused = false

  @exclusivity(unchecked) var input = ByteBuffer()
  @exclusivity(unchecked) var output = QueuedOutput()
  @exclusivity(unchecked) var parser: ResponseHeadParser
  @exclusivity(unchecked) var reader: BodyReader
  let head = ResponseHead()
  let trailers = FieldBlock()
  /// Whether it may carry another exchange after this one.
  var isPersistent = true
  /// Whether bytes of the present answer have come.
  var answerBegun = false
  /// Whether bytes of the present request have left.
  var hasSent = false
  var interimAnswers = 0

  // What may be read and written now.
  var readsPaused = false
  var wantsWritable = false
  var isFlushing = false
  var isProcessing = false
  /// Whether the last read brought so much that the next one gets a big buffer.
  var isBulk = false
  /// Whether the present body goes through a pipe.
  var isSplicing = false
  /// Whether the attempt was told to wait.
  var wasCongested = false
  var opening: ConnectionOpening?
  private let openedAt: Instant
  private var idleSince: Instant
  /// Exchanges that it has carried, the present one too.
  private var carried = 0
  lazy var timer = Timer(loop: worker.loop) { [unowned self] in timeIsUp() }

  /// - Parameter attempt: what it is opened for; nil: for whoever comes.
  init(
    endpoint: EndpointPool, worker: Worker, transport: consuming Transport, attempt: Attempt?
  ) throws(SystemError) {
    self.endpoint = endpoint
    self.worker = worker
    self.attempt = attempt
    parser = ResponseHeadParser(limits: worker.headLimits)
    reader = BodyReader(framing: .none, limits: worker.headLimits)
    openedAt = worker.loop.now
    idleSince = openedAt
    opening = try ConnectionOpening(endpoint: endpoint, transport: transport, owner: self)
  }

  /// Whether it gets no further exchange: for its age, or for how many it has carried.
  var isWornOut: Bool {
    if let most = endpoint.settings.maximumRequestsPerConnection, carried >= most { return true }
    if let age = endpoint.settings.maximumConnectionAge { return worker.loop.now >= openedAt + age }
    return false
  }

  /// Counts the exchange that it takes.
  func countExchange() { carried += 1 }

  func ready(_ readiness: Readiness) {
    switch state {
    case .connecting: break
    case .idle: if readiness.meets(.broken) || !staysIdle() { close() }
    case .active:
      if readiness.contains(.writable) { flush() }
      guard state == .active else { return }
      let gone = readiness.meets(.broken)
      if gone, readsPaused {
        // What came before its end is read when there is room for it; the loop would report it again and again.
        unregister()
      } else if gone || readiness.contains(.readable), !readsPaused {
        readOnce()
      }
    case .closed: break
    }
  }

  // MARK: Ending

  /// The answer is whole: tells the attempt, then goes idle or closes.
  func finishExchange() {
    guard let attempt else { return }
    // It may be the last that holds the endpoint, when a reload has taken that out.
    defer { withExtendedLifetime(attempt) {} }
    let requestIsWhole = attempt.bodyIsComplete && output.isEmpty
    self.attempt = nil
    attempt.received(endWith: trailers)
    guard state == .active else { return }
    if isPersistent, requestIsWhole, !worker.isDraining, transport?.hasUnread == false {
      readsPaused = false
      output.rest(worker.loop.buffers)
      becomeIdle()
    } else {
      close()
    }
  }

  /// It waits for the next exchange.
  func becomeIdle() {
    state = .idle
    updateInterest()
    idleSince = worker.loop.now
    let end = idleSince + worker.timeouts.upstreamIdle
    if timer.deadline.map({ $0 > end }) ?? true { timer.schedule(at: end) }
    endpoint.becameIdle(self)
  }

  /// The attempt wants no more of it.
  func abandon() {
    attempt = nil
    close()
  }

  func fail(_ kind: UpstreamFailure.Kind, _ reason: String) {
    let failed = attempt
    attempt = nil
    let begun = answerBegun
    let nothingSent = !hasSent
    close()
    failed?.connectionFailed(
      self,
      UpstreamFailure(
        kind: kind, reason: "\(endpoint.name): \(reason)", nothingSent: nothingSent, answerBegun: begun))
  }

  /// The timer is not set anew for each exchange: it looks how long the connection has been idle when it fires.
  private func timeIsUp() {
    switch state {
    case .idle:
      let end = idleSince + worker.timeouts.upstreamIdle
      guard worker.loop.now >= end else { return timer.schedule(at: end) }
      if endpoint.keepsIdle, !isWornOut { timer.schedule(after: worker.timeouts.upstreamIdle) } else { close() }
    case .connecting, .active, .closed: break
    }
  }

  /// Closes a connection that its endpoint has no idle place for.
  func closeSurplus() {
    state = .active
    close()
  }

  func close() {
    guard state != .closed else { return }
    let wasIdle = state == .idle
    state = .closed
    timer.cancel()
    opening?.cancel()
    opening = nil
    unregister()
    transport = nil
    worker.discard(&input)
    output.removeAll(givingTo: worker.loop.buffers)
    endpoint.closed(self, wasIdle: wasIdle)
  }
}
