import Bytes
import EventLoops
import JSONValues
import Metrics
import Migration
import Redis

/// The loop's side of ``StageSharing``: one connection that asks, one that listens.
///
/// All documents are in one hash, by procedure. Who writes one says so on a channel, and counts a revision up. A
/// message is heard within milliseconds; the revision is looked at every two seconds, for messages that were lost.
final class StageSync {
  private static let interval = Duration.seconds(2)
  /// How long a lead lasts that nobody renews, in milliseconds.
  private static let leadTime = "8000"

  private let keeper: StageKeeper
  private let writer: String
  private let lead: RampLead
  private let loop: EventLoop
  private let log: GatewayLog
  private let errors: CounterFamily
  private let client: RedisClient
  private let listener: RedisClient
  private let hash: String
  private let revisionKey: String
  private let leadKey: String
  private let channel: String
  private var isSynchronizing = false
  /// The revision up to which everything is known; nil: nothing is sure.
  private var revision: Int64?
  private var isReported = false
  private lazy var timer = Timer(loop: loop) { [unowned self] in poll() }

  init(
    endpoint: RedisEndpoint, keeper: StageKeeper, writer: String, lead: RampLead, loop: EventLoop, log: GatewayLog,
    presence: RedisPresence, metrics: GatewayMetrics
  ) {
    self.keeper = keeper
    self.writer = writer
    self.lead = lead
    self.loop = loop
    self.log = log
    errors = metrics.rollout.stateErrors
    hash = "\(endpoint.prefix)stages"
    revisionKey = "\(endpoint.prefix)stages:revision"
    leadKey = "\(endpoint.prefix)stages:lead"
    channel = "\(endpoint.prefix)stages"
    var limits = RedisReplyReader.Limits()
    limits.bytes = StateFileContent.maximumBytes
    let counters = RedisCounters(metrics.redis, endpoint.name, shard: 0)
    client = RedisClient(endpoint: endpoint, loop: loop, counters: counters, limits: limits, presence: presence)
    listener = RedisClient(
      endpoint: endpoint, channels: [channel], loop: loop, counters: counters, presence: presence)
  }

  func start() {
    client.onReady = { [unowned self] in
      revision = nil
      synchronize()
      takeLead()
      timer.schedule(after: Self.interval)
    }
    client.onLost = { [unowned self] in
      timer.cancel()
      isSynchronizing = false
      lead.isOurs = true
    }
    // What was said while nobody listened.
    listener.onReady = { [unowned self] in poll() }
    listener.onMessage = { [unowned self] _, payload in fetch(String(decoding: payload, as: UTF8.self)) }
    client.start()
    listener.start()
  }

  func close() {
    timer.cancel()
    client.close()
    listener.close()
  }

  // MARK: Telling

  /// Tells a document, if it is newer than what is there; else takes what is there.
  func push(_ document: StageDocument) {
    // When the connection is there, all is told.
    guard client.isReady else { return }
    let value = String(decoding: document.json.bytes, as: UTF8.self)
    client.run(
      Self.publish, keys: [hash, revisionKey],
      arguments: [document.procedure, document.version.description, value, channel]
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let failure): failed(failure)
      case .success(let reply):
        let parts = reply.elements ?? []
        if let newer = parts.first?.text { return take(newer) }
        if let next = parts.first?.integer, let known = revision, next == known + 1 { revision = next }
      }
    }
  }

  /// Answers the new revision, or the document that is there and newer. A revision that is lost begins with the time, so
  /// that none comes twice.
  private static let publish = RedisScript(
    """
    local known = redis.call('HGET', KEYS[1], ARGV[1])
    if known then
      local version = string.match(known, '^(' .. string.rep('%d', 19) .. '@%x+)\\n')
      if version and version >= ARGV[2] then return { known } end
    end
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. '\\n' .. ARGV[3])
    if redis.call('EXISTS', KEYS[2]) == 0 then
      local clock = redis.call('TIME')
      redis.call('SET', KEYS[2], string.format('%.0f', clock[1] * 1000000 + clock[2]))
    end
    local revision = redis.call('INCR', KEYS[2])
    redis.call('PUBLISH', ARGV[4], ARGV[1])
    return { revision }
    """)

  // MARK: Hearing

  private func fetch(_ procedure: String) {
    guard client.isReady else { return }
    client.send(RedisCommand("HGET", hash, procedure)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let failure): failed(failure)
      case .success(let reply): if let text = reply.text { take(text) }
      }
    }
  }

  /// A value of the hash: a version, a line's end, a document.
  private func take(_ value: String) {
    guard let document = Self.document(value) else {
      complain("a document in \(hash) does not make sense; it is left alone")
      return
    }
    keeper.received(document)
  }

  private static func document(_ value: String) -> StageDocument? {
    let parts = value.split(separator: "\n", maxSplits: 1)
    guard parts.count == 2, let json = try? JSONValue(parsing: Array(parts[1].utf8)) else { return nil }
    return StageDocument(json: json)
  }

  // MARK: All of it

  private func poll() {
    guard client.isReady else { return }
    timer.schedule(after: Self.interval)
    takeLead()
    client.send(RedisCommand("GET", revisionKey)) { [weak self] result in
      guard let self, case .success(let reply) = result else { return }
      let present = reply.text.flatMap { Int64($0) }
      if present == nil || present != revision { synchronize() }
    }
  }

  /// Takes what is newer there, and tells what is newer here, or is not there: of a server that has forgotten all too.
  private func synchronize() {
    guard client.isReady, !isSynchronizing else { return }
    isSynchronizing = true
    var present: Int64?
    // In this order: what is written in between is seen the next time.
    client.send(RedisCommand("GET", revisionKey)) { result in
      if case .success(let reply) = result { present = reply.text.flatMap { Int64($0) } }
    }
    client.send(RedisCommand("HGETALL", hash)) { [weak self] result in
      guard let self else { return }
      isSynchronizing = false
      switch result {
      case .failure(let failure): failed(failure)
      case .success(let reply): merge(reply.elements ?? [], present)
      }
    }
  }

  private func merge(_ elements: [RedisValue], _ present: Int64?) {
    var there: [String: StageDocument.Version] = [:]
    for index in stride(from: 1, to: elements.count, by: 2) {
      guard let value = elements[index].text else { continue }
      if let document = Self.document(value) { there[document.procedure] = document.version }
      take(value)
    }
    revision = present
    for document in keeper.documents where there[document.procedure].map({ $0 < document.version }) ?? true {
      push(document)
    }
    isReported = false
  }

  // MARK: The lead of ramps

  private func takeLead() {
    client.run(Self.claim, keys: [leadKey], arguments: [writer, Self.leadTime]) { [weak self] result in
      guard let self, case .success(let reply) = result else { return }
      lead.isOurs = reply.integer == 1
    }
  }

  /// Lets another replica lead at once, if this one does; the completion is called within the timeout of a command.
  func leave(_ completion: @escaping () -> Void) {
    timer.cancel()
    client.run(Self.release, keys: [leadKey], arguments: [writer]) { _ in completion() }
  }

  private static let release = RedisScript(
    """
    if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
    return 0
    """)

  private static let claim = RedisScript(
    """
    local who = redis.call('GET', KEYS[1])
    if who and who ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 1
    """)

  // MARK: Faults

  private func failed(_ failure: RedisFailure) {
    // Known from the next look on, whatever it was.
    revision = nil
    if case .refused(let reason) = failure { complain("Redis refuses to share stages: \(reason)") }
  }

  /// Once, until all went well.
  private func complain(_ message: String) {
    errors.child(["share"]).add(1, shard: 0)
    if !isReported { log.write(.error, message) }
    isReported = true
  }
}
