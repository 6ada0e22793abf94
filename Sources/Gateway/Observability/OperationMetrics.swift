import Metrics

/// What is counted of the configuration in use, of operators, and of what the gateway does for itself.
struct OperationMetrics: Sendable {
  let reloads: CounterFamily
  let lastReload: Gauge
  let configInfo: GaugeFamily
  let restartPending: GaugeFamily
  let staleFiles: Gauge
  let certificateEnds: GaugeFamily
  let adminRefusals: CounterFamily
  let internalRequests: CounterFamily
  let traceSpans: CounterFamily
  let droppedLogLines: GaugeFamily
  let bufferedBytes: Gauge

  init(_ registry: MetricsRegistry) {
    reloads = registry.counter(
      "turnout_config_reloads_total", help: "Reloads of the configuration, by outcome.", labels: ["outcome"])
    lastReload = registry.gauge(
      "turnout_config_last_reload_successful",
      help: "Whether the configuration that was read last is the one that serves.", labels: []
    ).child([])
    lastReload.set(1)
    configInfo = registry.gauge(
      "turnout_config_info", help: "1, with a hash of the configuration that serves: equal replicas have equal ones.",
      labels: ["hash"])
    restartPending = registry.gauge(
      "turnout_restart_pending", help: "1 for a key of the configuration whose change waits for a restart.",
      labels: ["key"])
    staleFiles = registry.gauge(
      "turnout_stale_files",
      help: "Files of keys, certificates and tokens whose content cannot be used, so that what they held goes on.",
      labels: []
    ).child([])
    certificateEnds = registry.gauge(
      "turnout_certificate_not_after_seconds",
      help: "When the first certificate of a file ends, in seconds since the Unix epoch; 0: it is not in use any more.",
      labels: ["file"])
    adminRefusals = registry.counter(
      "turnout_admin_refused_total", help: "Requests that the admin endpoint refused for who makes them, by status.",
      labels: ["status"])
    internalRequests = registry.counter(
      "turnout_internal_requests_total", help: "Requests of the gateway's own, by what for and how they ended.",
      labels: ["purpose", "outcome"])
    traceSpans = registry.counter(
      "turnout_trace_spans_total", help: "Spans of traces, by what became of them.", labels: ["outcome"])
    droppedLogLines = registry.gauge(
      "turnout_access_log_dropped_lines",
      help: "Access log lines that were lost because the log could not keep up, or not be written.",
      labels: ["path"])
    bufferedBytes = registry.gauge(
      "turnout_buffered_bytes", help: "Bytes of messages that are held to be translated.", labels: []
    ).child([])
    // What an alert waits for has to be there before it grows.
    for outcome in ["ok", "failed"] { _ = reloads.child([outcome]) }
    for status in ["401", "403"] { _ = adminRefusals.child([status]) }
    for key in RestartKey.allCases { restartPending.child([key.rawValue]).set(0) }
  }
}
