import Configuration

/// The gateway's own requests on one loop: for keys, tokens, a verdict, or to give traces away.
///
/// They go over connections of the same kind as those to upstreams, kept for the next request, with the TLS of their own
/// origin. Redirects are not followed: who is asked is what the configuration says.
final class InternalClient {
  private final class Entry {
    let pool: UpstreamPool
    /// The number of the reload after which it was last asked for.
    var generation: Int

    init(_ pool: UpstreamPool, _ generation: Int) {
      self.pool = pool
      self.generation = generation
    }
  }

  unowned let worker: Worker
  private var entries: [EndpointIdentity: Entry] = [:]
  private var exchanges: [ObjectIdentifier: InternalExchange] = [:]
  private var generation = 0

  init(worker: Worker) { self.worker = worker }

  /// Sends a request and gathers the answer.
  ///
  /// - Parameters:
  ///   - time: for the whole of it.
  ///   - limit: bytes of the greatest body that is taken.
  ///   - completion: called once on this loop, perhaps before this returns; not after a cancel.
  @discardableResult
  func send(
    _ request: UpstreamRequest, to origin: InternalOrigin, within time: Duration, limit: Int,
    completion: @escaping (Result<InternalReply, InternalFailure>) -> Void
  ) -> InternalExchange {
    let exchange = InternalExchange(client: self, purpose: origin.purpose, limit: limit, completion: completion)
    exchanges[ObjectIdentifier(exchange)] = exchange
    exchange.start(request, pool(for: origin), within: time)
    return exchange
  }

  func ended(_ exchange: InternalExchange) { exchanges[ObjectIdentifier(exchange)] = nil }

  private func pool(for origin: InternalOrigin) -> UpstreamPool {
    let configuration = origin.configuration
    let endpoint = origin.resource.endpoint
    let identity = EndpointIdentity(
      upstream: configuration.name, host: endpoint.host, port: endpoint.port, http: configuration.http,
      security: origin.security?.fingerprint ?? [])
    if let known = entries[identity] {
      known.generation = generation
      return known.pool
    }
    // Of this loop alone, and none of the configuration's upstreams.
    let state = UpstreamState(name: configuration.name, shards: worker.metrics.shards)
    let set = EndpointSet(
      identity: identity, configuration: endpoint, upstream: configuration, state: state, security: origin.security,
      worker: worker)
    let pool = UpstreamPool(configuration: configuration, state: state, sets: [set], worker: worker)
    entries[identity] = Entry(pool, generation)
    return pool
  }

  /// A snapshot was adopted: origins that nobody has asked since the one before are let go.
  func adopted() {
    for (identity, entry) in entries where entry.generation < generation {
      entries[identity] = nil
      for set in entry.pool.sets { set.retire() }
    }
    generation += 1
  }

  func closeIdle() {
    for entry in entries.values { for set in entry.pool.sets { set.closeIdle() } }
  }

  /// The loop has ended: whoever waits for an answer is told.
  func close() {
    for exchange in Array(exchanges.values) { exchange.close() }
    closeIdle()
  }
}
