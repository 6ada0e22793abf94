package import Bytes

/// One connection to a Redis server, without a socket: bytes in, replies out, commands in their order.
///
/// It says who it is first. Only when the server has taken that may commands be sent: else they could run as somebody
/// else, or in another database.
package final class RedisSession {
  /// Who connects, and where to.
  package struct Login: Sendable, Hashable {
    /// Nil: the server's default user (Redis 6 and later know others).
    package var username: String?
    /// A secret. Nil: nobody asks.
    package var password: String?
    package var database: Int

    package init(username: String? = nil, password: String? = nil, database: Int = 0) {
      self.username = username
      self.password = password
      self.database = database
    }
  }

  /// What the bytes of the server mean.
  package enum Event: Sendable, Equatable {
    /// Commands may be sent from now on.
    case ready
    /// The answer to the oldest command that has none yet.
    case reply(RedisValue)
    /// Something was published on a channel that this connection listens to.
    case message(channel: String, payload: [UInt8])
    /// A subscriber's ``ping()`` was answered.
    case pong
  }

  private let reader: RedisReplyReader
  private let channels: [String]
  /// Answers of the login that are still to come.
  private var loginSteps: [LoginStep] = []
  private var isReady = false
  /// Commands without an answer.
  package private(set) var unanswered = 0
  /// Channels that are not confirmed.
  private var unconfirmed: Int
  /// What is to be sent.
  package var output = ByteBuffer()

  private enum LoginStep {
    /// With the secret that was sent.
    case authentication(String)
    case database(Int)
  }

  /// - Parameter channels: none: a connection for commands. Else one that only listens to these.
  package init(login: Login, channels: [String] = [], limits: RedisReplyReader.Limits = .init()) {
    reader = RedisReplyReader(limits: limits)
    self.channels = channels
    unconfirmed = channels.count
    begin(login)
  }

  private func begin(_ login: Login) {
    if let password = login.password {
      var command = RedisCommand("AUTH")
      if let username = login.username { command.append(username) }
      command.append(password)
      _ = command.write(into: &output)
      loginSteps.append(.authentication(password))
    }
    // Even for the first one, which is a connection's own: it shows whether somebody there speaks Redis and lets us in.
    _ = RedisCommand("SELECT", "\(login.database)").write(into: &output)
    loginSteps.append(.database(login.database))
    loginSteps.reverse()
    guard !channels.isEmpty else { return }
    var command = RedisCommand("SUBSCRIBE")
    for channel in channels { command.append(channel) }
    _ = command.write(into: &output)
  }

  /// Writes one command. Its answer is the reply after those of all that were sent before.
  ///
  /// - Returns: false when it cannot be sent now.
  package func send(_ command: RedisCommand) -> Bool {
    guard isReady, channels.isEmpty, command.write(into: &output) else { return false }
    unanswered += 1
    return true
  }

  /// Asks whether the server is still there, on a connection that only listens.
  package func ping() { if isReady { _ = RedisCommand("PING").write(into: &output) } }

  /// Takes what the server sent, in whatever pieces; ``next()`` says what it means.
  ///
  /// - Throws: when a reply is larger than what is allowed.
  package func receive(_ bytes: Span<UInt8>) throws(RedisFault) { try reader.feed(bytes) }

  /// The next thing that happened; nil: more bytes are needed.
  package func next() throws(RedisFault) -> Event? {
    while let value = try reader.next() {
      if let event = try event(for: value) { return event }
    }
    return nil
  }

  private func event(for value: RedisValue) throws(RedisFault) -> Event? {
    if let step = loginSteps.popLast() {
      try check(value, step)
      guard loginSteps.isEmpty, channels.isEmpty else { return nil }
      isReady = true
      return .ready
    }
    if !channels.isEmpty { return try push(value) }
    guard unanswered > 0 else { throw RedisFault(.protocol, "the server sent a reply that nobody asked for") }
    unanswered -= 1
    return .reply(value)
  }

  private func check(_ value: RedisValue, _ step: LoginStep) throws(RedisFault) {
    switch (value, step) {
    case (.status("OK"), _): return
    case (.error(let reason), .authentication(let secret)):
      throw RedisFault(.refused, "the login was refused: \(Self.shown(reason, without: secret))")
    case (.error(let reason), .database(let number)):
      throw RedisFault(.refused, "database \(number) was refused: \(reason)")
    default: throw RedisFault(.protocol, "not the answer of a Redis server to a login")
    }
  }

  /// Who does not know the command repeats what was sent, or the beginning of that.
  private static func shown(_ reason: String, without secret: String) -> String {
    if reason.hasPrefix("ERR unknown command") { return "the server does not know AUTH" }
    return reason.contains(secret) ? String(reason.prefix { $0 != " " }) : reason
  }

  /// What comes on a connection that listens.
  private func push(_ value: RedisValue) throws(RedisFault) -> Event? {
    if case .error(let reason) = value { throw RedisFault(.refused, "listening was refused: \(reason)") }
    guard let elements = value.elements, let kind = elements.first?.text else {
      throw RedisFault(.protocol, "not what a listener is sent")
    }
    switch kind {
    case "subscribe" where unconfirmed > 0:
      unconfirmed -= 1
      guard unconfirmed == 0 else { return nil }
      isReady = true
      return .ready
    case "message" where elements.count == 3:
      guard let channel = elements[1].text, case .bulk(let payload) = elements[2] else { break }
      return .message(channel: channel, payload: payload)
    case "pong": return .pong
    default: break
    }
    throw RedisFault(.protocol, "not what a listener is sent")
  }
}
