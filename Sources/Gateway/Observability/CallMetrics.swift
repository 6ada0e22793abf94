import Metrics

/// What is counted of calls: those that ended, and those that were refused before a backend was asked.
struct CallMetrics: Sendable {
  let requests: CounterFamily
  let duration: HistogramFamily
  let unknownFields: CounterFamily
  let rateLimited: CounterFamily
  let rateLimitDryRun: CounterFamily
  let limitFallbacks: CounterFamily
  let authRefused: CounterFamily

  init(_ registry: MetricsRegistry) {
    requests = registry.counter(
      "turnout_requests_total", help: "Calls that ended, by route, caller's protocol, answering side and code.",
      labels: ["route", "service", "method", "face", "side", "stage", "code"])
    duration = registry.histogram(
      "turnout_request_duration_seconds", help: "From the request head to the end of the answer.",
      labels: ["service", "method", "side"])
    unknownFields = registry.counter(
      "turnout_unknown_fields_total", help: "JSON members and query parameters that the schema does not know.",
      labels: ["service", "method", "path"], maximumChildren: 1000)
    rateLimited = registry.counter(
      "turnout_rate_limited_total", help: "Calls that were refused because there were too many.",
      labels: ["service", "method"])
    rateLimitDryRun = registry.counter(
      "turnout_rate_limit_dry_run_total", help: "Calls that a rate limit on trial would have refused.",
      labels: ["service", "method"])
    limitFallbacks = registry.counter(
      "turnout_rate_limit_fallbacks_total", help: "Calls whose shared limit could not be asked, by what was done.",
      labels: ["redis", "decision"])
    authRefused = registry.counter(
      "turnout_auth_refused_total", help: "Calls that were refused for who makes them, by interceptor and reason.",
      labels: ["interceptor", "reason"])
  }

  func unknownField(_ route: Route, _ path: String, shard: Int) {
    unknownFields.child([route.service, route.method, path]).add(1, shard: shard)
  }
}
