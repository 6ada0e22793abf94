import Configuration
import EventLoops
import Policies
import Redis

/// `rate_limit` with `store: redis`: the buckets of all replicas, kept by a script on the server.
///
/// A bucket is how much was taken of it and when: what has flowed back since is worked out when somebody takes. The
/// server's clock counts, so that those of the replicas need not agree. A bucket that is full again is no key any more.
struct SharedLimit: Sendable {
  /// What the server said; or that it did not, in time.
  enum Outcome {
    case decided(TokenBucket.Outcome)
    case unknown
  }

  let server: String
  let timeout: Duration
  let onFailure: RateLimitConfiguration.OnFailure
  /// Before what tells callers apart.
  private let name: String
  /// Tokens per microsecond, and how many at once.
  private let rate: String
  private let burst: String

  /// - Parameter name: what the limit is called on the server: the same in all replicas.
  init(_ configuration: RateLimitConfiguration.SharedStore, name: String, rate: Rate) {
    server = configuration.redis.name
    timeout = configuration.timeout
    onFailure = configuration.onFailure
    self.name = name
    self.rate = "\(Double(rate.requests) / (Double(rate.period) / 1_000))"
    burst = "\(rate.burst)"
  }

  /// Takes one token; the completion is called once, perhaps before this returns.
  func take(_ key: String, from client: RedisClient, _ completion: @escaping (Outcome) -> Void) {
    client.run(
      Self.script, keys: ["\(client.endpoint.prefix)limit:\(name):\(key)"], arguments: [rate, burst, "1"],
      timeout: timeout
    ) { result in
      guard case .success(let reply) = result, let answer = reply.elements, answer.count >= 2,
        let isTaken = answer[0].integer, let wait = answer[1].integer
      else { return completion(.unknown) }
      let microseconds = UInt64(clamping: max(1, min(wait, 1 << 50)))
      completion(.decided(isTaken == 1 ? .taken : .refused(wait: microseconds * 1_000)))
    }
  }

  /// KEYS: buckets. ARGV, for each: tokens per microsecond, the most at once, how many are wanted. All are taken, or
  /// none. Answers: 1 or 0; microseconds until all could be taken; then what is left in each.
  static let script = RedisScript(
    """
    local clock = redis.call('TIME')
    local now = clock[1] * 1000000 + clock[2]
    local levels, wait, left = {}, 0, {}
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
      if over > 0.000001 then wait = math.max(wait, math.ceil(over / rate), 1) end
      levels[i] = level + cost
      left[i] = math.max(0, math.floor(burst - level - cost + 0.000001))
    end
    if wait == 0 then
      for i, key in ipairs(KEYS) do
        local life = math.min(math.ceil(levels[i] / tonumber(ARGV[i * 3 - 2]) / 1000) + 1, 9007199254740991)
        redis.call('SET', key, string.format('%.17g %.0f', levels[i], now), 'PX', string.format('%.0f', life))
      end
    end
    local answer = { wait == 0 and 1 or 0, wait }
    for i, count in ipairs(left) do answer[i + 2] = count end
    return answer
    """)
}
