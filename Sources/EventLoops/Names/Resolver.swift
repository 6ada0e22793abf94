import CAres
import Glibc

/// Looks host names up without blocking: the hosts file, then DNS (c-ares), on the loop's events and timers.
///
/// It keeps no answers. Each carries its time to live, and whoever uses it asks again after that.
public final class Resolver {
  /// Addresses with the port asked for, the best first (RFC 6724), and how long they may be used: at least a second,
  /// so that nobody asks all the time.
  public typealias Resolution = (addresses: [SocketAddress], timeToLive: Duration)
  public typealias Completion = (Result<Resolution, ResolverError>) -> Void

  /// What an address that was no name is good for.
  static let literalTimeToLive = Duration.seconds(365 * 86_400)
  private static let initialized = ares_library_init(ARES_LIB_INIT_ALL)

  private let sockets: ResolverSockets
  private var timer: Timer?
  private let channel: ares_channel?
  /// Why there is no channel.
  private let failure: CInt
  /// The names that are being looked up, and who waits for each.
  private var queries: [String: ResolverQuery] = [:]
  private var finished: [ResolverQuery] = []
  private var services: [ObjectIdentifier: ServiceQuery] = [:]
  private var finishedServices: [ServiceQuery] = []
  /// Why what is under way is being given up; set only while it is.
  fileprivate private(set) var unwatched: SystemError?

  /// - Parameters:
  ///   - servers: `address:port` with commas between; nil: those of /etc/resolv.conf.
  ///   - timeout: of the first try; later ones wait longer.
  init(loop: EventLoop, servers: String?, timeout: Duration = .seconds(2), tries: Int = 3) {
    let sockets = ResolverSockets(loop: loop)
    self.sockets = sockets
    var options = ares_options()
    options.timeout = CInt(clamping: timeout.wholeNanoseconds / 1_000_000)
    options.tries = CInt(clamping: tries)
    options.sock_state_cb_data = Unmanaged.passUnretained(sockets).toOpaque()
    options.sock_state_cb = { data, descriptor, readable, writable in
      guard let data else { return }
      let sockets = Unmanaged<ResolverSockets>.fromOpaque(data).takeUnretainedValue()
      sockets.changed(descriptor, readable: readable != 0, writable: writable != 0)
    }
    var made: ares_channel?
    var status = Self.initialized
    if status == ARES_SUCCESS {
      status = ares_init_options(&made, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB)
    }
    if status == ARES_SUCCESS, let servers { status = ares_set_servers_ports_csv(made, servers) }
    channel = made
    failure = status
    sockets.onReady = { [weak self] readable, writable in self?.process(readable, writable) }
    timer = Timer(loop: loop) { [weak self] in self?.process(ARES_SOCKET_BAD, ARES_SOCKET_BAD) }
  }

  deinit {
    // Tells those who wait that it is over; sockets leave the loop.
    if let channel { ares_destroy(channel) }
    for query in finished + queries.values {
      query.deliver(.failure(.init(host: query.host, status: ARES_EDESTRUCTION)))
    }
    for query in finishedServices + services.values { query.deliver(cancelled: true) }
  }

  /// Finds the addresses of a host. A literal, and what the hosts file knows, is answered before this returns.
  ///
  /// Those who ask for a name while it is being looked up share the answer.
  public func resolve(host: String, port: UInt16, _ completion: @escaping Completion) {
    if let literal = SocketAddress(host: host, port: port) {
      completion(.success(([literal], Self.literalTimeToLive)))
      return
    }
    if host.utf8.contains(0) {
      completion(.failure(ResolverError(host: host, status: ARES_EBADNAME)))
      return
    }
    let name = host.lowercased()
    if let query = queries[name] {
      query.add(port: port, completion)
      return
    }
    guard let channel, failure == ARES_SUCCESS else {
      completion(.failure(ResolverError(host: host, status: failure)))
      return
    }
    let query = ResolverQuery(host: name, resolver: self)
    query.add(port: port, completion)
    queries[name] = query
    query.start(on: channel)
    settle()
  }

  /// The library has the answer of a query. It is delivered when the library is done, so that who is told may do
  /// anything, such as ask again or end the loop.
  func finish(_ query: ResolverQuery) {
    queries[query.host] = nil
    finished.append(query)
  }

  var usableChannel: ares_channel? { failure == ARES_SUCCESS ? channel : nil }

  func ask(_ query: ServiceQuery, _ channel: ares_channel) {
    services[ObjectIdentifier(query)] = query
    query.start(on: channel)
    settle()
  }

  func finish(_ query: ServiceQuery) {
    guard services.removeValue(forKey: ObjectIdentifier(query)) != nil else { return }
    finishedServices.append(query)
  }

  private func process(_ readable: CInt, _ writable: CInt) {
    guard let channel else { return }
    ares_process_fd(channel, readable, writable)
    settle()
  }

  private func settle() {
    giveUpIfUnwatched()
    schedule()
    while !finished.isEmpty { finished.removeFirst().deliver() }
    while !finishedServices.isEmpty { finishedServices.removeFirst().deliver() }
  }

  /// A socket that nobody watches would only time out: whoever waits is told at once, and why. The library asks all
  /// questions to one server over one socket, so that hardly more is given up than has to be.
  private func giveUpIfUnwatched() {
    guard let channel, let failure = sockets.takeFailure() else { return }
    unwatched = failure
    ares_cancel(channel)
    unwatched = nil
  }

  private func schedule() {
    var wait = timeval()
    guard let channel, ares_timeout(channel, nil, &wait) != nil else {
      timer?.cancel()
      return
    }
    timer?.schedule(after: .seconds(Int64(wait.tv_sec)) + .microseconds(Int64(wait.tv_usec)))
  }
}

extension ResolverError {
  /// What a status of the library means for a question of this resolver.
  init(host: String, status: CInt, at resolver: Resolver?) {
    if status == ARES_ECANCELLED, let failure = resolver?.unwatched {
      self.init(host: host, unwatched: failure)
    } else {
      self.init(host: host, status: status)
    }
  }
}
