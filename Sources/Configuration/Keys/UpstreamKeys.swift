extension Sections {
  static let upstream = Section<UpstreamKey>(
    "an upstream",
    hints: Dictionary(
      uniqueKeysWithValues: [
        "url", "urls", "uri", "address", "addresses", "host", "hosts", "server", "servers", "target",
      ]
      .map { ($0, .means("endpoints")) }))
  static let upstreamTLS = Section<UpstreamTLSKey>("the TLS of an upstream", hints: verifyingHints)
  /// A gateway that asks no upstream who it is would be worth nothing as one.
  static let verifyingHints = Dictionary(
    uniqueKeysWithValues: ["insecure", "insecure_skip_verify", "skip_verify", "verify"].map { name in
      (name, KeyHint.misplaced("certificates are always verified; name the authority that issues them with `ca:`"))
    })
  static let endpoint = Section<EndpointKey>("an endpoint")
  static let balance = Section<BalanceKey>("a balance")
  static let healthCheck = Section<HealthCheckKey>("a health check", shorthand: .path)
  static let outlierEjection = Section<OutlierEjectionKey>("the outlier ejection")
  static let retries = Section<RetriesKey>("the retries", shorthand: .attempts)
  static let backoff = Section<BackoffKey>("a backoff")
  static let upstreamLimits = Section<UpstreamLimitsKey>("the limits of an upstream")
}

enum UpstreamKey: String, SectionKey {
  case `protocol`, codec, endpoints, http, headers, tls, balance, zone, retries, limits, prewarm, credentials
  case connectTimeout = "connect_timeout"
  case maxIdleConnections = "max_idle_connections"
  case maxConnections = "max_connections"
  case healthCheck = "health_check"
  case outlierEjection = "outlier_ejection"
  case panicThreshold = "panic_threshold"
  case maxConnectionAge = "max_connection_age"
  case maxRequestsPerConnection = "max_requests_per_connection"
}

enum UpstreamTLSKey: String, SectionKey {
  case ca, certificate, key
  case serverName = "server_name"
}

enum EndpointKey: String, SectionKey {
  case url, srv, tls, weight, zone
}

enum BalanceKey: String, SectionKey {
  case hash
}

enum HealthCheckKey: String, SectionKey {
  case path, grpc, interval, timeout, healthy, unhealthy, statuses, host
}

enum OutlierEjectionKey: String, SectionKey {
  case consecutiveFailures = "consecutive_failures"
  case baseEjection = "base_ejection"
  case longestEjection = "longest_ejection"
  case maxEjected = "max_ejected"
}

enum RetriesKey: String, SectionKey {
  case attempts, on, backoff, budget, body
  case perTryTimeout = "per_try_timeout"
  case maxRetryAfter = "max_retry_after"
  case minPerSecond = "min_per_second"
}

enum BackoffKey: String, SectionKey {
  case base, max
}

enum UpstreamLimitsKey: String, SectionKey {
  case maxConnections = "max_connections"
  case maxPending = "max_pending"
  case maxRequests = "max_requests"
}
