import HTTP1
import HTTP2
import Metrics

/// The metric families of the gateway, made once; names and labels are the contract's.
final class GatewayMetrics: Sendable {
  let registry: MetricsRegistry
  /// Loops that count.
  let shards: Int
  let requests: CounterFamily
  let duration: HistogramFamily
  let upstreamDuration: HistogramFamily
  let shadows: CounterFamily
  let shadowSkips: CounterFamily
  let shadowDifferences: CounterFamily
  let dryRuns: CounterFamily
  let decisions: CounterFamily
  let overridesRefused: CounterFamily
  let fallbacks: CounterFamily
  let rollbacks: CounterFamily
  let stages: GaugeFamily
  let shares: GaugeFamily
  let guards: GaugeFamily
  let rampSteps: GaugeFamily
  let reloads: CounterFamily
  let unknownFields: CounterFamily
  let rateLimited: CounterFamily
  let rateLimitDryRun: CounterFamily
  let connections: GaugeFamily
  let upstreamConnections: GaugeFamily
  let upstreamFailures: CounterFamily
  let connectFailures: CounterFamily
  let malformedRequests: CounterFamily
  let http2Faults: CounterFamily
  let acceptPauses: CounterFamily
  let proxyHeaders: CounterFamily
  let traceSpans: CounterFamily
  let tlsHandshakes: CounterFamily
  let upstreamHandshakes: CounterFamily
  let upstreamEndpoints: GaugeFamily
  let ejections: CounterFamily
  let healthChecks: CounterFamily
  let retries: CounterFamily
  let budgetExhausted: CounterFamily
  let overflows: CounterFamily
  let internalRequests: CounterFamily
  let authRefused: CounterFamily
  let slowClients: Counter
  let droppedLogLines: GaugeFamily
  let bufferedBytes: Gauge
  let connectionLimit: Gauge
  let certificateEnds: GaugeFamily
  let lastReload: Gauge
  let configInfo: GaugeFamily
  let adminRefusals: CounterFamily
  let process: ProcessMetrics
  let redis: RedisMetrics
  let limitFallbacks: CounterFamily
  let stateErrors: CounterFamily
  let stateLeader: Gauge
  let staleFiles: Gauge
  /// By key.
  let restartPending: GaugeFamily

  /// - Parameter shards: one for each loop.
  init(shards: Int) {
    let registry = MetricsRegistry(shards: shards)
    self.registry = registry
    self.shards = shards
    requests = registry.counter(
      "turnout_requests_total", help: "Calls that ended, by route, caller's protocol, answering side and code.",
      labels: ["route", "service", "method", "face", "side", "stage", "code"])
    duration = registry.histogram(
      "turnout_request_duration_seconds", help: "From the request head to the end of the answer.",
      labels: ["service", "method", "side"])
    upstreamDuration = registry.histogram(
      "turnout_upstream_duration_seconds", help: "From asking an upstream to the end of its answer.",
      labels: ["upstream", "service", "method"])
    shadows = registry.counter(
      "turnout_shadow_total", help: "Calls whose copy went to the other backend, by how the answers compare.",
      labels: ["service", "method", "outcome"])
    shadowSkips = registry.counter(
      "turnout_shadow_skipped_total", help: "Calls that were to be copied and have no comparison, by why.",
      labels: ["service", "method", "reason"])
    shadowDifferences = registry.counter(
      "turnout_shadow_differences_total", help: "Differences between the answers of the two backends, by field path.",
      labels: ["service", "method", "path", "kind"])
    dryRuns = registry.counter(
      "turnout_dry_run_total", help: "Calls that were translated to see what a change of stage would refuse.",
      labels: ["service", "method", "outcome"])
    decisions = registry.counter(
      "turnout_stage_decisions_total",
      help: "Ended calls whose side was chosen one by one, by side and by what chose it: share, rule or override.",
      labels: ["service", "method", "side", "reason"])
    overridesRefused = registry.counter(
      "turnout_override_refused_total", help: "Testers' headers that chose no side, by why.",
      labels: ["service", "method", "reason"])
    fallbacks = registry.counter(
      "turnout_fallbacks_total",
      help: "Calls whose chosen side failed and whose route asks the other one then, by that side and what came of it.",
      labels: ["service", "method", "from", "outcome"])
    rollbacks = registry.counter(
      "turnout_rollbacks_total", help: "Routes that a guard took back, by the limit that was exceeded.",
      labels: ["service", "method", "reason"])
    stages = registry.gauge(
      "turnout_stage", help: "1 for the stage that a route is in, 0 for the others.",
      labels: ["service", "method", "stage"], maximumChildren: 20_000)
    shares = registry.gauge(
      "turnout_share", help: "The part of the callers that the rpc side answers, 0 to 1.",
      labels: ["service", "method"], maximumChildren: 5_000)
    guards = registry.gauge(
      "turnout_guard_state", help: "1 for what the guard of a route is doing, 0 for the others.",
      labels: ["service", "method", "state"], maximumChildren: 20_000)
    rampSteps = registry.gauge(
      "turnout_ramp_step", help: "The step of its ramp that a route has reached, from 1; 0: none.",
      labels: ["service", "method"], maximumChildren: 5_000)
    reloads = registry.counter(
      "turnout_config_reloads_total", help: "Reloads of the configuration, by outcome.", labels: ["outcome"])
    unknownFields = registry.counter(
      "turnout_unknown_fields_total", help: "JSON members and query parameters that the schema does not know.",
      labels: ["service", "method", "path"], maximumChildren: 1000)
    rateLimited = registry.counter(
      "turnout_rate_limited_total", help: "Calls that were refused because there were too many.",
      labels: ["service", "method"])
    rateLimitDryRun = registry.counter(
      "turnout_rate_limit_dry_run_total", help: "Calls that a rate limit on trial would have refused.",
      labels: ["service", "method"])
    connections = registry.gauge(
      "turnout_connections", help: "Open client connections.", labels: ["listener", "protocol"])
    upstreamConnections = registry.gauge(
      "turnout_upstream_connections", help: "Open upstream connections, by state.", labels: ["upstream", "state"])
    upstreamFailures = registry.counter(
      "turnout_upstream_failures_total", help: "Upstream exchanges that failed, by kind.",
      labels: ["upstream", "kind"])
    connectFailures = registry.counter(
      "turnout_upstream_connect_failures_total", help: "Connections to an upstream that could not be opened.",
      labels: ["upstream"])
    malformedRequests = registry.counter(
      "turnout_malformed_requests_total", help: "Requests that are no acceptable HTTP, by kind.", labels: ["kind"])
    http2Faults = registry.counter(
      "turnout_http2_faults_total", help: "What clients and upstreams did against HTTP/2, by what it ended and kind.",
      labels: ["scope", "kind"])
    acceptPauses = registry.counter(
      "turnout_accept_pauses_total", help: "Moments in which no connection was accepted, by what had run out.",
      labels: ["reason"])
    traceSpans = registry.counter(
      "turnout_trace_spans_total", help: "Spans of traces, by what became of them.", labels: ["outcome"])
    proxyHeaders = registry.counter(
      "turnout_proxy_headers_total", help: "PROXY headers that were waited for, by what came.",
      labels: ["listener", "outcome"])
    tlsHandshakes = registry.counter(
      "turnout_tls_handshakes_total", help: "TLS handshakes with clients, by how they ended.",
      labels: ["listener", "outcome"])
    upstreamHandshakes = registry.counter(
      "turnout_upstream_tls_handshakes_total", help: "TLS handshakes with upstreams, by how they ended.",
      labels: ["upstream", "outcome"])
    upstreamEndpoints = registry.gauge(
      "turnout_upstream_endpoints", help: "Endpoints of an upstream, by whether they are used.",
      labels: ["upstream", "state"])
    ejections = registry.counter(
      "turnout_upstream_ejections_total", help: "Endpoints that were left out for their answers.",
      labels: ["upstream"])
    healthChecks = registry.counter(
      "turnout_upstream_health_checks_total", help: "Health checks of endpoints, by outcome.",
      labels: ["upstream", "outcome"])
    retries = registry.counter(
      "turnout_upstream_retries_total", help: "Requests that were sent again, by the reason.",
      labels: ["upstream", "reason"])
    budgetExhausted = registry.counter(
      "turnout_upstream_retry_budget_exhausted_total", help: "Retries that were not made because there were too many.",
      labels: ["upstream"])
    overflows = registry.counter(
      "turnout_upstream_overflows_total", help: "Requests that were refused by a limit of the upstream or the route.",
      labels: ["upstream", "limit"])
    internalRequests = registry.counter(
      "turnout_internal_requests_total", help: "Requests of the gateway's own, by what for and how they ended.",
      labels: ["purpose", "outcome"])
    authRefused = registry.counter(
      "turnout_auth_refused_total", help: "Calls that were refused for who makes them, by interceptor and reason.",
      labels: ["interceptor", "reason"])
    slowClients = registry.counter(
      "turnout_slow_clients_total", help: "Requests that were refused because they did not arrive in time.", labels: []
    ).child([])
    droppedLogLines = registry.gauge(
      "turnout_access_log_dropped_lines",
      help: "Access log lines that were lost because the log could not keep up, or not be written.",
      labels: ["path"])
    bufferedBytes = registry.gauge(
      "turnout_buffered_bytes", help: "Bytes of messages that are held to be translated.", labels: []
    ).child([])
    process = ProcessMetrics(registry)
    certificateEnds = registry.gauge(
      "turnout_certificate_not_after_seconds",
      help: "When the first certificate of a file ends, in seconds since the Unix epoch; 0: it is not in use any more.",
      labels: ["file"])
    lastReload = registry.gauge(
      "turnout_config_last_reload_successful",
      help: "Whether the configuration that was read last is the one that serves.", labels: []
    ).child([])
    lastReload.set(1)
    configInfo = registry.gauge(
      "turnout_config_info", help: "1, with a hash of the configuration that serves: equal replicas have equal ones.",
      labels: ["hash"])
    adminRefusals = registry.counter(
      "turnout_admin_refused_total", help: "Requests that the admin endpoint refused for who makes them, by status.",
      labels: ["status"])
    connectionLimit = registry.gauge(
      "turnout_connections_limit",
      help: "Client connections that there can be at a time: limits.connections, or what descriptors there are for.",
      labels: []
    ).child([])
    redis = RedisMetrics(registry)
    stateErrors = registry.counter(
      "turnout_state_errors_total", help: "Troubles with the state file, the audit log, and sharing stages over Redis.",
      labels: ["operation"])
    staleFiles = registry.gauge(
      "turnout_stale_files",
      help: "Files of keys, certificates and tokens whose content cannot be used, so that what they held goes on.",
      labels: []
    ).child([])
    restartPending = registry.gauge(
      "turnout_restart_pending", help: "1 for a key of the configuration whose change waits for a restart.",
      labels: ["key"])
    stateLeader = registry.gauge(
      "turnout_state_leader", help: "Whether this process advances ramps: one of those that share their state.",
      labels: []
    ).child([])
    limitFallbacks = registry.counter(
      "turnout_rate_limit_fallbacks_total", help: "Calls whose shared limit could not be asked, by what was done.",
      labels: ["redis", "decision"])
    for key in RestartKey.allCases { restartPending.child([key.rawValue]).set(0) }
    _ = reloads.child(["ok"])
    _ = reloads.child(["failed"])
    for status in ["401", "403"] { _ = adminRefusals.child([status]) }
    // Prometheus sees no growth in the first value of a series: what an alert waits for has to be there before.
    for reason in ["connections", "descriptors"] { _ = acceptPauses.child([reason]) }
  }

  func malformed(_ error: HTTP1Error, shard: Int) {
    malformedRequests.child(["\(error.kind.name)"]).add(1, shard: shard)
  }

  func http2Fault(_ fault: HTTP2Fault, shard: Int) {
    http2Faults.child([fault.scope.rawValue, fault.kind.rawValue]).add(1, shard: shard)
  }

  func upstreamFailed(_ upstream: String, _ kind: UpstreamFailure.Kind, shard: Int) {
    upstreamFailures.child([upstream, kind.label]).add(1, shard: shard)
  }

  /// Nil for a call whose stage has one side only.
  func decisions(_ route: Route, _ decision: StageDecision) -> Counter? {
    guard decision.reason != .stage else { return nil }
    return decisions.child([route.service, route.method, decision.side.label, decision.reason.label])
  }

  func unknownField(_ route: Route, _ path: String, shard: Int) {
    unknownFields.child([route.service, route.method, path]).add(1, shard: shard)
  }

  func upstream(_ name: String, shard: Int) -> UpstreamMetrics {
    UpstreamMetrics(
      idle: ShardedGauge(gauge: upstreamConnections.child([name, "idle"]), shard: shard),
      active: ShardedGauge(gauge: upstreamConnections.child([name, "active"]), shard: shard),
      connectFailures: connectFailures.child([name]))
  }
}

/// A gauge as one loop counts it.
struct ShardedGauge {
  let gauge: Gauge
  let shard: Int

  func add(_ amount: Int) { gauge.add(amount, shard: shard) }
}

/// What one loop counts of one upstream.
struct UpstreamMetrics {
  let idle: ShardedGauge
  let active: ShardedGauge
  let connectFailures: Counter
}
