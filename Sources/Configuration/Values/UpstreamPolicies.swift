/// `balance:`, which endpoint gets the next request.
package enum BalanceConfiguration: Sendable, Equatable {
  /// What a consistent hash is made of.
  package enum HashKey: Sendable, Equatable {
    /// In lower case.
    case header(String)
    case cookie(String)
    case clientAddress
    /// Without the query.
    case path
  }

  case roundRobin
  /// Of two endpoints drawn by weight, the one with fewer requests under way.
  case leastRequests
  /// The same key goes to the same endpoint; requests without the key go round.
  case hash(HashKey)
}

/// `health_check:`, what each endpoint is asked for regularly.
package struct HealthCheckConfiguration: Sendable, Equatable {
  package enum Question: Sendable, Equatable {
    /// `GET` of a path.
    case path(String)
    /// `grpc.health.v1.Health/Check` in the upstream's own protocol; empty: the server as a whole.
    case grpc(service: String)
  }

  package var question: Question
  /// From the end of a check to the next one, give or take a tenth (Default: 5s).
  package var interval: Duration = .seconds(5)
  /// For the whole answer (Default: 2s).
  package var timeout: Duration = .seconds(2)
  /// Good answers in a row that bring an endpoint back (Default: 2).
  package var healthy = 2
  /// Bad ones in a row that take it out (Default: 3).
  package var unhealthy = 3
  /// Statuses that are good (Default: 200 to 299).
  package var statuses: [ClosedRange<Int>] = [200...299]
  /// For the Host field; nil: the endpoint's own.
  package var host: String?

  package init(_ question: Question) { self.question = question }
}

/// `outlier_ejection:`, when an endpoint is left out for what its answers are.
package struct OutlierEjectionConfiguration: Sendable, Equatable {
  /// Failures in a row (Default: 5).
  package var consecutiveFailures = 5
  /// How long the first time; each time in a row doubles it (Default: 30s).
  package var baseEjection: Duration = .seconds(30)
  /// (Default: 5m)
  package var longestEjection: Duration = .seconds(300)
  /// Parts per 10,000 of the endpoints that may be out at the same time (Default: 50%).
  package var mostEjected = 5_000

  package init() {}
}

/// `retries:`, what is asked once more, of an upstream or of a route.
package struct RetryConfiguration: Sendable, Equatable {
  /// `on:`
  package enum Condition: String, Sendable, CaseIterable, Hashable {
    /// No connection could be opened.
    case connect
    /// The upstream said that it has not looked at the request.
    case refused
    /// The connection or the stream ended before an answer.
    case reset = "reset_before_answer"
    /// `per_try_timeout` ran out.
    case timeout
    case status500 = "500"
    case status502 = "502"
    case status503 = "503"
    case status504 = "504"
    case status429 = "429"
    case unavailable
    case resourceExhausted = "resource_exhausted"
    case `internal`
    case unknown
  }

  /// Tries beside the first one (Default: 2).
  package var attempts = 2
  package var conditions: Set<Condition> = [
    .connect, .refused, .reset, .timeout, .status502, .status503, .status504, .unavailable,
  ]
  /// The first pause is a random part of it, each further one of twice as much (Default: 25ms).
  package var backoffBase: Duration = .milliseconds(25)
  /// (Default: 250ms)
  package var longestBackoff: Duration = .milliseconds(250)
  /// Until the head of an answer; nil: as long as the call may take.
  package var perTryTimeout: Duration?
  /// An upstream that asks for a longer pause is not asked again (Default: 2s).
  package var longestRetryAfter: Duration = .seconds(2)
  /// Parts per 10,000 of the requests of the last ten seconds (Default: 20%).
  package var budget = 2_000
  /// Retries per second that may be made whatever the share (Default: 3).
  package var minimumPerSecond = 3
  /// Bytes of a passing body that are kept to be sent again (Default: 64KiB).
  package var body = 64 << 10

  package init() {}
}

/// `limits:` of an upstream, for the whole process; nil: none.
package struct UpstreamLimitsConfiguration: Sendable, Equatable {
  /// Connections, idle ones too, to all endpoints.
  package var connections: Int?
  /// Requests that wait for a connection.
  package var pending: Int?
  /// Requests under way, waiting ones too.
  package var requests: Int?

  package init() {}
}
