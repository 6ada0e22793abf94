import Bytes
import EventLoops
import Redis

/// What a connection to a Redis server tells its owner.
protocol RedisConnectionOwner: AnyObject {
  /// Commands may be sent, or: all channels are listened to.
  func connectionReady()
  /// The answer to the oldest command without one.
  func connectionReceived(_ reply: RedisValue)
  func connectionReceived(_ payload: [UInt8], on channel: String)
  func connectionAnsweredPing()
  /// It is over, for this reason.
  func connectionEnded(_ reason: String)
}

/// One connection to a Redis server, from the socket to its end; commands of one tick leave with one write.
final class RedisConnection: ReadinessHandler, TickFlushing {
  private static let readRoom = 16 << 10
  /// Bytes that may wait to be sent.
  private static let maximumOutput = 4 << 20

  private let session: RedisSession
  private let loop: EventLoop
  private unowned let owner: any RedisConnectionOwner
  private var transport: Transport?
  private var registration: Registration?
  private var input = ByteBuffer()
  /// Whether the socket is open, and only the TLS handshake may be missing.
  private var isConnected = false
  /// Whether the session's bytes may go over it.
  private var isOpen = false
  private var isFlushScheduled = false

  init(
    transport: consuming Transport, session: RedisSession, loop: EventLoop, owner: any RedisConnectionOwner
  ) throws(SystemError) {
    self.session = session
    self.loop = loop
    self.owner = owner
    let descriptor = transport.descriptor
    self.transport = consume transport
    registration = try loop.register(descriptor, [.writable], handler: self)
  }

  // MARK: Sending

  /// Sends one command with the others of this tick.
  ///
  /// - Returns: false when it cannot be taken.
  func send(_ command: RedisCommand) -> Bool {
    guard session.output.count < Self.maximumOutput, session.send(command) else { return false }
    scheduleFlush()
    return true
  }

  func ping() {
    session.ping()
    scheduleFlush()
  }

  private func scheduleFlush() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    loop.flushAtTickEnd(self)
  }

  func flush() {
    isFlushScheduled = false
    guard isOpen else { return }
    while !session.output.isEmpty {
      switch transport?.write(from: &session.output) {
      case .transferred: continue
      case .wouldBlock:
        watch([.readable, .writable])
        return
      case .closed, nil: return
      case .failed(let error): return end("\(error)")
      }
    }
    session.output.releaseStorage()
    watch([.readable])
  }

  // MARK: Events

  func ready(_ readiness: Readiness) {
    guard isOpen else { return open() }
    if readiness.contains(.writable) { flush() }
    if readiness.meets(.broken) || readiness.contains(.readable) { read() }
  }

  private func open() {
    if !isConnected {
      if let error = transport?.takeError() { return end(error.reason) }
      isConnected = true
    }
    switch transport?.open() {
    case .reads: watch([.readable])
    case .writes: watch([.writable])
    case .failed(let error): end("\(error)")
    case .done:
      isOpen = true
      flush()
      if transport?.hasUnread == true { read() }
    case nil: break
    }
  }

  private func read() {
    while true {
      if input.capacity == 0 { input = loop.buffers.take() }
      switch transport?.read(into: &input, room: Self.readRoom) {
      case .transferred: guard handleInput() else { return }
      case .wouldBlock, nil: return giveBackInput()
      case .closed: return end("the server closed the connection")
      case .failed(let error): return end("\(error)")
      }
      // The end of a TLS session comes with its last bytes: nothing announces it.
      guard transport?.hasUnread == true else { return giveBackInput() }
    }
  }

  /// - Returns: false when the connection is over.
  private func handleInput() -> Bool {
    do throws(RedisFault) {
      try input.withSpan { (bytes) throws(RedisFault) in try session.receive(bytes) }
      input.removeAll()
      while transport != nil, let event = try session.next() {
        switch event {
        case .ready: owner.connectionReady()
        case .reply(let value): owner.connectionReceived(value)
        case .message(let channel, let payload): owner.connectionReceived(payload, on: channel)
        case .pong: owner.connectionAnsweredPing()
        }
      }
      return transport != nil
    } catch {
      end(error.reason)
      return false
    }
  }

  private func giveBackInput() {
    guard input.isEmpty, input.capacity > 0 else { return }
    var taken = ByteBuffer()
    swap(&taken, &input)
    loop.buffers.give(taken)
  }

  private func watch(_ interest: Readiness) {
    if let registration { loop.change(registration, to: interest) }
  }

  // MARK: Ending

  private func end(_ reason: String) {
    guard transport != nil else { return }
    close()
    owner.connectionEnded(reason)
  }

  /// Ends it; the owner is not told.
  func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    transport = nil
    input.removeAll()
    giveBackInput()
  }
}
