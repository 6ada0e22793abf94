import Diagnostics

extension Sections {
  static let interceptor = Section<InterceptorKey>(
    "an interceptor",
    hints: Dictionary(
      uniqueKeysWithValues: [
        "retry", "basic_auth", "circuit_breaker", "cache",
        "ip_filter",
      ].map { name in
        (name, .notYet("the interceptors of this version are \(listed(InterceptorKey.allCases.map(\.rawValue)))"))
      }))
  /// Where somebody writes an interceptor as a key of what it is to act on.
  static let interceptorHints = Dictionary(
    uniqueKeysWithValues: InterceptorKey.allCases.map { key in
      (key.rawValue, KeyHint.misplaced("it is an interceptor; write it as `interceptors: [ { \(key.rawValue): … } ]`"))
    })
  static let accessLog = Section<AccessLogKey>("the access log")
  static let requestID = Section<RequestIDKey>("the request id")
  static let headers = Section<HeadersKey>("the headers", hints: headerHints)
  static let headerChanges = Section<HeaderChangesKey>("the changes of headers")
  static let apiKey = Section<APIKeyKey>(
    "an API key check", hints: ["file": .misplaced("write `keys_file: PATH`, with the SHA-256 of a key on each line")])
  static let rateLimit = Section<RateLimitKey>(
    "a rate limit", hints: ["cost": .misplaced("write `rate_limit_cost` of a service or a method")])
  static let furtherLimit = Section<RateLimitKey>("one of several limits", keys: RateLimitKey.ofLimit)
  static let concurrency = Section<ConcurrencyKey>("a concurrency limit")
  static let cors = Section<CORSKey>("the CORS settings")

  private static let headerHints = Dictionary(
    uniqueKeysWithValues: HeaderChangesKey.allCases.map { key in
      (key.rawValue, KeyHint.misplaced("write it under `request:` or `response:`"))
    })
}

enum InterceptorKey: String, SectionKey {
  case accessLog = "access_log"
  case requestID = "request_id"
  case headers
  case apiKey = "api_key"
  case rateLimit = "rate_limit"
  case concurrency
  case tracing
  case cors
  case jwt
  case externalAuth = "external_auth"
  case clientCertificate = "client_certificate"
}

enum AccessLogKey: String, SectionKey {
  case format, path
}

enum RequestIDKey: String, SectionKey {
  case trust
}

enum HeadersKey: String, SectionKey {
  case request, response
}

enum HeaderChangesKey: String, SectionKey {
  case set, add, remove
}

enum APIKeyKey: String, SectionKey {
  case keys, header, query, forward
  case keysFile = "keys_file"
}

enum RateLimitKey: String, SectionKey {
  case requests, per, burst, key, limits, fields, store, timeout
  case maxKeys = "max_keys"
  case dryRun = "dry_run"
  case onFailure = "on_failure"

  /// What each of several limits has.
  static let ofLimit: [RateLimitKey] = [.requests, .per, .burst, .key, .maxKeys]
}

enum ConcurrencyKey: String, SectionKey {
  case requests, key
}

enum CORSKey: String, SectionKey {
  case preset, origins, methods, headers, expose, credentials
  case privateNetwork = "private_network"
  case maxAge = "max_age"
}
