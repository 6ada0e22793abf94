import Synchronization

/// Tells the log when a Redis server goes away and when it is there again: once, however many loops notice it.
final class RedisPresence: Sendable {
  /// Clients that miss it, by the server's name.
  private let missing = Mutex<[String: Int]>([:])
  private let log: GatewayLog

  init(log: GatewayLog) { self.log = log }

  func isAway(_ endpoint: RedisEndpoint, _ reason: String) {
    let count = missing.withLock { missing in
      missing[endpoint.name, default: 0] += 1
      return missing[endpoint.name]
    }
    if count == 1 { log.write(.warning, "redis \(endpoint.name) (\(endpoint.place)) is away: \(reason)") }
  }

  /// Whether a client misses the server at this moment.
  func isMissed(_ name: String) -> Bool { missing.withLock { $0[name] != nil } }

  /// - Parameter isThere: false: the client has ended, and misses nothing any more.
  func isMissedNoMore(_ endpoint: RedisEndpoint, isThere: Bool) {
    let count = missing.withLock { missing in
      let count = max(0, missing[endpoint.name, default: 0] - 1)
      missing[endpoint.name] = count == 0 ? nil : count
      return count
    }
    if count == 0, isThere { log.write(.info, "redis \(endpoint.name) (\(endpoint.place)) is there again") }
  }
}
