/// One entry of `interceptors:`.
package enum InterceptorConfiguration: Sendable, Equatable {
  case accessLog(AccessLogConfiguration)
  case requestID(RequestIDConfiguration)
  case headers(HeadersConfiguration)
  case apiKey(APIKeyConfiguration)
  case rateLimit(RateLimitConfiguration)
  case concurrency(ConcurrencyConfiguration)
  case tracing(TracingConfiguration)
  case cors(CORSConfiguration)
  case jwt(JWTConfiguration)
  case externalAuth(ExternalAuthConfiguration)
  case clientCertificate(ClientCertificateConfiguration)
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
  /// Secrets; none only where there is a file.
  package var keys: [String]
  /// Of digests of keys, with the names of their owners.
  package var file: FileReference?
  /// The header that tells the backend the owner's name, in lower case; nil: none.
  package var forward: String?
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

/// `cors:`
package struct CORSConfiguration: Sendable, Equatable {
  /// Which headers of protocols are allowed and shown.
  package enum Preset: String, Sendable, CaseIterable {
    /// Those of Connect and gRPC-Web.
    case connect
    case none
  }

  /// As browsers write them: scheme, host, port unless it is the scheme's own. A `*` stands for one or more characters of
  /// a host name, in place of the port for its digits.
  package var origins: [String] = []
  /// (Default: connect).
  package var preset = Preset.connect
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
  /// Whether pages of the internet may call an address of a private network (Default: false).
  package var privateNetwork = false
  /// How long a browser may keep the answer to a preflight (Default: 2h, the most that Chrome takes).
  package var maxAge: Duration = .seconds(7200)

  package init() {}
}
