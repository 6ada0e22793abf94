/// `rate_limit:`, for the whole process.
package struct RateLimitConfiguration: Sendable, Equatable {
  /// How many of what counts together.
  package struct Limit: Sendable, Equatable {
    /// How many in each period ``per``.
    package var requests: Int
    package var per: Duration
    /// Requests that may come at once (Default: as many as `requests`).
    package var burst: Int
    package var key = LimitKey.client
    /// Keys that are told apart at the same time (Default: 100000).
    package var maximumKeys = 100_000

    package init(requests: Int, per: Duration) {
      self.requests = requests
      self.per = per
      burst = requests
    }
  }

  /// Which answers carry `RateLimit-Limit`, `-Remaining` and `-Reset`.
  package enum Fields: String, Sendable, CaseIterable {
    case always
    case refusals
    case never
  }

  /// `on_failure:`, what is done with a call when the shared buckets cannot be asked.
  package enum OnFailure: String, Sendable, CaseIterable {
    /// The buckets of this process decide.
    case local
    /// It is taken.
    case open
    /// It is refused as `unavailable`.
    case closed
  }

  /// Buckets that all replicas share.
  package struct SharedStore: Sendable, Equatable {
    /// An entry of `redis:`.
    package var redis: Reference
    /// How long a call waits for the answer (Default: 20ms).
    package var timeout: Duration = .milliseconds(20)
    package var onFailure = OnFailure.local

    package init(redis: Reference) { self.redis = redis }
  }

  /// A call has to pass all; at least one.
  package var limits: [Limit]
  /// Whether calls beyond are only counted (Default: false).
  package var dryRun = false
  /// (Default: refusals).
  package var fields = Fields.refusals
  /// Nil: the buckets are those of this process.
  package var shared: SharedStore?

  package init(limits: [Limit]) { self.limits = limits }
}

/// `concurrency:`, how many calls run at the same time in the whole process.
package struct ConcurrencyConfiguration: Sendable, Equatable {
  package var requests: Int
  /// (Default: none).
  package var key = LimitKey(parts: [])

  package init(requests: Int) { self.requests = requests }
}

/// What has a limit of its own: the combinations of these; with none of them all calls have one together.
package struct LimitKey: Sendable, Equatable {
  package enum Part: Sendable, Equatable {
    /// The caller's address; of IPv6 the network of 64 bits.
    case client
    /// The procedure.
    case route
    /// The value of a field, its name in lower case; callers without it go by their address.
    case header(String)
    /// The value of a claim of the caller's token; callers without it go by their address.
    case claim(String)
    /// The key that `api_key` let through; callers without one go by their address.
    case apiKey

    /// As the file has it.
    package var text: String {
      switch self {
      case .client: "client"
      case .route: "route"
      case .header(let name): "header:\(name)"
      case .claim(let name): "claim:\(name)"
      case .apiKey: "api_key"
      }
    }
  }

  package var parts: [Part]

  package init(parts: [Part]) { self.parts = parts }

  package static let client = LimitKey(parts: [.client])

  /// As the file has it.
  package var text: String { parts.isEmpty ? "none" : parts.map(\.text).joined(separator: "+") }
}
