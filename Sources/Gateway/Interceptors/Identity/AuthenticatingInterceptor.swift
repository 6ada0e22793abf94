import HTTPModel

/// Lets only callers through that it knows: a route with `public: true` goes without.
protocol AuthenticatingInterceptor: Interceptor {
  /// What is left of it on public routes: credentials that no backend sees are taken away there too. Nil: nothing.
  var onPublicRoutes: (any Interceptor)? { get }
}

extension AuthenticatingInterceptor {
  var onPublicRoutes: (any Interceptor)? { nil }
}

/// Takes credentials out of requests, without looking at them.
struct CredentialStripping: Interceptor {
  private let strip: @Sendable (RequestHead) -> Void

  init(_ strip: @escaping @Sendable (RequestHead) -> Void) { self.strip = strip }

  func onCall(_ call: Call) -> InterceptorVerdict {
    strip(call.head)
    return .proceed
  }
}
