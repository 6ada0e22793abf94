import Configuration

/// Who answers what no route matches, and how its calls are treated.
final class UnroutedPlan: Sendable {
  /// Of its interceptors' limits: no service has this name.
  static let scope = "(fallback)"

  /// By index.
  let upstream: Int
  let limits: RouteSettings.Limits
  /// The whole chain, those of all routes too.
  let interceptors: [any Interceptor]

  init(upstream: Int, limits: RouteSettings.Limits, interceptors: [any Interceptor]) {
    self.upstream = upstream
    self.limits = limits
    self.interceptors = interceptors
  }
}
