/// One entry of `interceptors:`.
package enum InterceptorConfiguration: Sendable, Equatable {
  case accessLog(AccessLogConfiguration)
  case requestID(RequestIDConfiguration)
  case headers(HeadersConfiguration)
  case apiKey(APIKeyConfiguration)
  case rateLimit(RateLimitConfiguration)
  case cors(CORSConfiguration)
  case jwt(JWTConfiguration)
}

/// `access_log:`
package struct AccessLogConfiguration: Sendable, Equatable {
  package var format = LogFormat.text
  /// A file; nil: standard output. Reopened on SIGUSR1.
  package var path: String?

  package init() {}
}

/// `request_id:`
package struct RequestIDConfiguration: Sendable, Equatable {
  /// Whether a caller's own id is kept (Default: true).
  package var trust = true

  package init() {}
}

/// What happens to the fields of one direction: first those of `remove` and `set` go, then those of `set` and `add` come.
package struct HeaderChangesConfiguration: Sendable, Equatable {
  /// One field line.
  package struct Field: Sendable, Equatable {
    /// In lower case.
    package var name: String
    /// May be a secret.
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// In place of all fields of the name.
  package var set: [Field] = []
  /// Beside those that are there.
  package var add: [Field] = []
  /// Names, in lower case.
  package var remove: [String] = []

  package init() {}

  /// Whether nothing happens.
  package var isEmpty: Bool { self.set.isEmpty && add.isEmpty && remove.isEmpty }
}

/// `headers:` among the interceptors.
package struct HeadersConfiguration: Sendable, Equatable {
  /// Of the caller's request, on its way to the upstream.
  package var request = HeaderChangesConfiguration()
  /// Of the answer, on its way to the caller.
  package var response = HeaderChangesConfiguration()

  package init() {}
}

/// `api_key:`
package struct APIKeyConfiguration: Sendable, Equatable {
  /// Secrets; at least one.
  package var keys: [String]
  /// The field that carries the key, in lower case; nil: only the query does.
  package var header: String?
  /// The query parameter that carries it; nil: only the header does.
  package var query: String?

  package init(keys: [String], header: String?, query: String?) {
    self.keys = keys
    self.header = header
    self.query = query
  }
}

/// `rate_limit:`, for the whole process.
package struct RateLimitConfiguration: Sendable, Equatable {
  /// What has a bucket of its own.
  package enum Key: Sendable, Equatable {
    /// The caller's address; of IPv6 the network of 64 bits.
    case client
    /// The procedure.
    case route
    /// Nothing: all calls have one bucket.
    case none
    /// The value of a field, its name in lower case; callers without it go by their address.
    case header(String)

    /// As the file has it.
    package var text: String {
      switch self {
      case .client: "client"
      case .route: "route"
      case .none: "none"
      case .header(let name): "header:\(name)"
      }
    }
  }

  /// How many in each period ``per``.
  package var requests: Int
  package var per: Duration
  /// Requests that may come at once (Default: as many as `requests`).
  package var burst: Int
  package var key = Key.client
  /// Keys that are told apart at the same time (Default: 100000).
  package var maximumKeys = 100_000

  package init(requests: Int, per: Duration) {
    self.requests = requests
    self.per = per
    burst = requests
  }
}

/// `cors:`
package struct CORSConfiguration: Sendable, Equatable {
  /// As browsers write them: scheme, host, port unless it is the scheme's own.
  package var origins: [String] = []
  /// Whether `*` is among the origins.
  package var allowsAnyOrigin = false
  /// Of calls that are no procedure's (Default: those of REST APIs).
  package var methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
  /// Request headers of the application, beside those of Connect and gRPC-Web (Default: Authorization).
  package var headers = ["Authorization"]
  /// Metadata of the application that scripts may read, each as itself and as `Trailer-` plus itself.
  package var expose: [String] = []
  /// Whether scripts may send cookies and Authorization, and see the answer (Default: false).
  package var credentials = false
  /// How long a browser may keep the answer to a preflight (Default: 2h, the most that Chrome takes).
  package var maxAge: Duration = .seconds(7200)

  package init() {}
}
