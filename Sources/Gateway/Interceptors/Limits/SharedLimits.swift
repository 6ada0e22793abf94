import Configuration
import EventLoops
import Policies
import Redis

/// `rate_limit` with `store: redis`: the buckets of all replicas, kept by a script on the server.
///
/// A bucket is how much was taken of it and when: what has flowed back since is worked out when somebody takes. The
/// server's clock counts, so that those of the replicas need not agree. A bucket that is full again is no key any more.
struct SharedLimits: Sendable {
  /// What the server said; or that it did not, in time.
  enum Outcome {
    case decided(RateLimitSet.Decision, left: [Int])
    case unknown
  }

  /// One of the limits as the script is told of it.
  private struct Limit {
    /// Before what tells callers apart.
    let name: String
    /// Tokens per microsecond, and how many at once.
    let rate: String
    let burst: String
  }

  let server: String
  let timeout: Duration
  let onFailure: RateLimitConfiguration.OnFailure
  private let limits: [Limit]

  /// - Parameter limits: with what they are called on the server, the same in all replicas.
  init(_ configuration: RateLimitConfiguration.SharedStore, limits: [(limiter: RateLimiter, name: String)]) {
    server = configuration.redis.name
    timeout = configuration.timeout
    onFailure = configuration.onFailure
    self.limits = limits.map { limit in
      let rate = limit.limiter.rate
      return Limit(
        name: limit.name, rate: "\(Double(rate.requests) / (Double(rate.period) / 1_000))", burst: "\(rate.burst)")
    }
  }

  /// Takes the tokens of every limit, or of none; the completion is called once, perhaps before this returns.
  ///
  /// - Parameter keys: what tells callers apart, for each limit.
  func take(_ keys: [String], cost: Int, from client: RedisClient, _ completion: @escaping (Outcome) -> Void) {
    let prefix = client.endpoint.prefix
    client.run(
      Self.script, keys: zip(limits, keys).map { "\(prefix)limit:\($0.name):\($1)" },
      arguments: limits.flatMap { [$0.rate, $0.burst, "\(cost)"] }, timeout: timeout
    ) { [count = limits.count] result in
      guard case .success(let reply) = result, let numbers = reply.elements?.compactMap(\.integer),
        numbers.count == 3 + count, (1...count).contains(Int(clamping: numbers[2]))
      else { return completion(.unknown) }
      let left = numbers.dropFirst(3).map { Int(clamping: $0) }
      if numbers[0] == 1 { return completion(.decided(.taken, left: left)) }
      let microseconds = UInt64(clamping: max(1, min(numbers[1], 1 << 50)))
      completion(.decided(.refused(limit: Int(clamping: numbers[2]) - 1, wait: microseconds * 1_000), left: left))
    }
  }

  /// KEYS: buckets. ARGV, for each: tokens per microsecond, the most at once, how many are wanted. All are taken, or
  /// none. Answers: 1 or 0; microseconds until the one that waits longest could be taken from; which one that is; then
  /// what is left in each.
  static let script = RedisScript(
    """
    local clock = redis.call('TIME')
    local now = clock[1] * 1000000 + clock[2]
    local levels, wait, longest, left = {}, 0, 1, {}
    for i, key in ipairs(KEYS) do
      local rate, burst, cost = tonumber(ARGV[i * 3 - 2]), tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3])
      local level = 0
      local known = redis.call('GET', key)
      if known then
        local was, at = string.match(known, '^(%S+) (%S+)$')
        was, at = tonumber(was), tonumber(at)
        if was and at then
          -- A clock that was set back gives nothing and takes nothing.
          level = math.max(0, was - math.max(0, now - at) * rate)
        end
      end
      local over = level + cost - burst
      -- What sums of fractions are off by.
      if over > 0.000001 then
        local own = math.max(1, math.ceil(over / rate))
        if own > wait then wait, longest = own, i end
      end
      levels[i] = level + cost
      left[i] = burst - level
    end
    if wait == 0 then
      for i, key in ipairs(KEYS) do
        local life = math.min(math.ceil(levels[i] / tonumber(ARGV[i * 3 - 2]) / 1000) + 1, 9007199254740991)
        redis.call('SET', key, string.format('%.17g %.0f', levels[i], now), 'PX', string.format('%.0f', life))
      end
    end
    local answer = { wait == 0 and 1 or 0, wait, longest }
    for i, count in ipairs(left) do
      if wait == 0 then count = count - tonumber(ARGV[i * 3]) end
      answer[i + 3] = math.max(0, math.floor(count + 0.000001))
    end
    return answer
    """)
}
