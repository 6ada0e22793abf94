/// The connections of one loop to the servers that limits are kept on.
extension Worker {
  /// Keeps those that are the same, opens new ones, closes the others.
  func adoptRedis(_ snapshot: Snapshot) {
    guard !snapshot.limitServers.isEmpty || !redis.isEmpty else { return }
    for (name, client) in redis where snapshot.limitServers[name]?.isSame(as: client.endpoint) != true {
      client.close()
      redis[name] = nil
    }
    for (name, endpoint) in snapshot.limitServers where redis[name] == nil {
      let client = RedisClient(
        endpoint: endpoint, loop: loop, counters: RedisCounters(metrics.redis, name, shard: index),
        presence: shared.redisPresence)
      redis[name] = client
      client.start()
    }
  }

  func closeRedis() {
    for client in redis.values { client.close() }
    redis = [:]
  }
}
