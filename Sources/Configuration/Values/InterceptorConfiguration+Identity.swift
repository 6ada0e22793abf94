extension InterceptorConfiguration {
  /// Whether it lets callers through or not by who they are.
  var isAuthentication: Bool {
    switch self {
    case .apiKey, .jwt, .externalAuth, .clientCertificate: true
    case .accessLog, .requestID, .headers, .rateLimit, .concurrency, .tracing, .cors: false
    }
  }

  /// The headers that it sets to say who calls, in lower case: nobody else may.
  package var identityHeaders: [String] {
    switch self {
    case .jwt(let jwt): jwt.forward.map(\.header)
    // A service may exchange the caller's credentials for others.
    case .externalAuth(let check): check.upstreamHeaders.filter { $0 != "authorization" && $0 != "cookie" }
    case .clientCertificate(let check): check.forward.map(\.header)
    case .apiKey(let keys): keys.forward.map { [$0] } ?? []
    case .accessLog, .requestID, .headers, .rateLimit, .concurrency, .tracing, .cors: []
    }
  }
}

extension GatewayConfiguration {
  /// Those of all routes, of services and of methods, and of the fallback.
  package var allInterceptors: [InterceptorConfiguration] {
    interceptors + services.flatMap { $0.interceptors + $0.methods.flatMap(\.interceptors) }
      + (fallback?.interceptors ?? [])
  }
}
