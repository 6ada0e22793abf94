import Configuration
import EventLoops
import Redis
import TransportSecurity

/// A connection to one Redis server that is made again whenever it is lost; belongs to one loop.
///
/// Fails fast: without a connection a command is refused at once, so that nobody waits for a server that is away.
/// Answers that come after their time are thrown away. A server that owes an answer for longer than the endpoint's
/// timeout counts as lost, because nothing else tells a dead peer from a slow one.
final class RedisClient: RedisConnectionOwner {
  /// So many late answers in a row, and nobody waits for the next ones, for a while.
  private static let maximumLate = 8
  private static let rest = Duration.seconds(1)
  /// Commands that may wait for their answers.
  static let maximumPending = 4_096
  /// How often a connection that only listens asks whether anybody is there.
  private static let pingInterval = Duration.seconds(5)

  let endpoint: RedisEndpoint
  private let loop: EventLoop
  private let counters: RedisCounters
  private let presence: RedisPresence
  private let channels: [String]
  private let limits: RedisReplyReader.Limits

  /// Commands may be sent from now on; called after every new connection.
  var onReady: (() -> Void)?
  /// The connection is gone; another one is on its way.
  var onLost: (() -> Void)?
  /// Something was published on one of the channels.
  var onMessage: ((_ channel: String, _ payload: [UInt8]) -> Void)?

  private(set) var isReady = false
  private var connection: RedisConnection?
  private var pending = PendingCommands()
  private var delay = ReconnectDelay()
  private var generator = SystemRandomNumberGenerator()
  private var nextAddress = 0
  private var isClosed = false
  /// Whether its absence was reported.
  private var isReportedAway = false
  private var isPinging = false
  /// Commands in a row whose own, shorter time was over before the answer came.
  private var late = 0
  /// Until when such commands are refused.
  private var restsUntil = Instant(nanoseconds: 0)
  /// Connecting: the end of patience. Ready: the next answer that is due, or the next ping. Lost: the next try.
  private lazy var timer = Timer(loop: loop) { [unowned self] in timeIsUp() }

  /// - Parameters:
  ///   - channels: none: for commands. Else it only listens to these.
  ///   - limits: of one reply.
  ///   - presence: told when the server goes away and comes back.
  init(
    endpoint: RedisEndpoint, channels: [String] = [], loop: EventLoop, counters: RedisCounters,
    limits: RedisReplyReader.Limits = .init(), presence: RedisPresence
  ) {
    self.endpoint = endpoint
    self.channels = channels
    self.loop = loop
    self.counters = counters
    self.limits = limits
    self.presence = presence
  }

  /// Connects, and goes on trying until ``close()``.
  func start() {
    guard !isClosed, connection == nil else { return }
    timer.schedule(after: endpoint.connectTimeout)
    switch endpoint.address {
    case .unix(let path): connect { () throws(SystemError) in try Socket.connect(toPath: path) }
    case .host(let host, let port):
      loop.resolver.resolve(host: host, port: port) { [weak self] result in self?.resolved(result) }
    }
  }

  private func resolved(_ result: Result<Resolver.Resolution, ResolverError>) {
    guard !isClosed, connection == nil else { return }
    switch result {
    case .success(let answer) where !answer.addresses.isEmpty:
      let address = answer.addresses[nextAddress % answer.addresses.count]
      nextAddress = (nextAddress + 1) % answer.addresses.count
      connect { () throws(SystemError) in try Socket.connect(to: address) }
    case .success: connectionEnded("the name has no address")
    case .failure(let error): connectionEnded("\(error)")
    }
  }

  private func connect(_ open: () throws(SystemError) -> Socket) {
    do {
      let transport: Transport
      if let security = endpoint.security {
        let session = try SecureSession(client: security.context, name: endpoint.serverName)
        transport = Transport(try open(), session, on: loop)
      } else {
        transport = Transport(try open())
      }
      connection = try RedisConnection(
        transport: transport, session: RedisSession(login: endpoint.login, channels: channels, limits: limits),
        loop: loop, owner: self)
    } catch {
      connectionEnded("\(error)")
    }
  }

  /// Ends it for good; commands that wait fail.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    timer.cancel()
    lose()
    if isReportedAway { presence.isMissedNoMore(endpoint, isThere: false) }
    isReportedAway = false
  }

  // MARK: Commands

  /// Sends a command with the others of this tick; the completion is called once, on the loop, or before this returns.
  ///
  /// - Parameter timeout: nil: the endpoint's. With a shorter one the caller can do without: when answers are late again
  ///   and again, it is told at once for a while, and nobody waits in vain.
  func send(_ command: RedisCommand, timeout: Duration? = nil, _ completion: @escaping PendingCommands.Completion) {
    guard isReady, let connection else { return fail(.away, completion) }
    if timeout != nil, loop.now < restsUntil { return fail(.slow, completion) }
    guard pending.count < Self.maximumPending, connection.send(command) else { return fail(.busy, completion) }
    let deadline = loop.now + min(timeout ?? endpoint.timeout, endpoint.timeout)
    pending.append(.init(completion: completion, sentAt: loop.now, deadline: deadline))
    if timer.deadline.map({ deadline < $0 }) ?? true { timer.schedule(at: deadline) }
  }

  /// Runs a script: by its digest, and with its text when the server does not have it.
  func run(
    _ script: RedisScript, keys: [String], arguments: [String], timeout: Duration? = nil,
    _ completion: @escaping PendingCommands.Completion
  ) {
    func appended(_ command: RedisCommand) -> RedisCommand {
      var command = command
      for key in keys { command.append(key) }
      for argument in arguments { command.append(argument) }
      return command
    }
    send(appended(script.call(keys: keys.count)), timeout: timeout) { [weak self] result in
      guard case .failure(.refused(let reason)) = result, RedisScript.isMissing(reason), let self else {
        return completion(result)
      }
      send(appended(script.fullCall(keys: keys.count)), timeout: timeout, completion)
    }
  }

  private func fail(_ failure: RedisFailure, _ completion: PendingCommands.Completion) {
    counters.failed(failure)
    completion(.failure(failure))
  }

  // MARK: From the connection

  func connectionReady() {
    isReady = true
    delay.reset()
    counters.connected(1)
    timer.cancel()
    if isReportedAway { presence.isMissedNoMore(endpoint, isThere: true) }
    isReportedAway = false
    if !channels.isEmpty { timer.schedule(after: Self.pingInterval) }
    onReady?()
  }

  func connectionReceived(_ reply: RedisValue) {
    guard let command = pending.takeOldest() else { return }
    // Told already that it came too late.
    guard let completion = command.completion else { return }
    guard case .error(let reason) = reply else {
      late = 0
      counters.answered(after: loop.now.nanoseconds(since: command.sentAt))
      return completion(.success(reply))
    }
    if !RedisScript.isMissing(reason) { counters.failed(.refused(reason)) }
    completion(.failure(.refused(reason)))
    // It is a replica now, or does not know yet what it is: another address of the name may be the right one.
    if reason.hasPrefix("READONLY") || reason.hasPrefix("MASTERDOWN") { giveUp(reason) }
  }

  func connectionReceived(_ payload: [UInt8], on channel: String) { onMessage?(channel, payload) }

  func connectionAnsweredPing() {
    isPinging = false
    timer.schedule(after: Self.pingInterval)
  }

  func connectionEnded(_ reason: String) {
    guard !isClosed else { return }
    if !isReady { counters.connectFailed() }
    if !isReportedAway { presence.isAway(endpoint, reason) }
    isReportedAway = true
    lose()
    timer.schedule(after: delay.next(using: &generator))
  }

  private func giveUp(_ reason: String) {
    guard connection != nil else { return }
    connectionEnded(reason)
  }

  private func lose() {
    let wasReady = isReady
    isReady = false
    isPinging = false
    connection?.close()
    connection = nil
    if wasReady { counters.connected(-1) }
    for completion in pending.takeAll() { fail(.lost, completion) }
    if wasReady { onLost?() }
  }

  // MARK: Time

  private func timeIsUp() {
    guard connection != nil || isReady else {
      // A name that is not found out, or the pause after a loss.
      return start()
    }
    guard isReady else { return connectionEnded("no connection in time") }
    if !channels.isEmpty { return checkListening() }
    for completion in pending.takeExpired(at: loop.now) {
      late += 1
      fail(.timedOut, completion)
    }
    if late >= Self.maximumLate {
      late = 0
      restsUntil = loop.now + Self.rest
    }
    // Whoever was told may have closed this, or lost the connection.
    guard isReady, let oldest = pending.oldest else { return }
    let patience = oldest.sentAt + endpoint.timeout
    guard loop.now < patience else { return giveUp("no answer within \(endpoint.timeout)") }
    timer.schedule(at: min(patience, pending.nextDeadline ?? patience))
  }

  private func checkListening() {
    if isPinging { return giveUp("no answer to a ping") }
    isPinging = true
    connection?.ping()
    timer.schedule(after: max(endpoint.timeout, .seconds(1)))
  }
}
