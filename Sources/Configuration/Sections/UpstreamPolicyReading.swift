import Diagnostics

/// What an upstream says of balancing, health, retries and bounds.
extension RootReader {
  func read(_ map: MappingReader<UpstreamKey>, into upstream: inout UpstreamConfiguration) {
    upstream.zone = configuration.zone
    context.read(map[.zone], into: &upstream.zone) { context.name($0, "a zone")?.value }
    context.read(map[.balance], into: &upstream.balance) { balance($0) }
    context.read(map[.panicThreshold], into: &upstream.panicThreshold) { context.share($0) }
    if let node = map[.healthCheck] { upstream.healthCheck = healthCheck(node, upstream.protocol) }
    if let node = map[.outlierEjection] { upstream.outlierEjection = outlierEjection(node) }
    if let node = map[.retries] { upstream.retries = retries(node) }
    if let node = map[.limits] { upstream.limits = limits(node) }
    context.read(map[.prewarm], into: &upstream.prewarm) { context.integer($0, 0...1000) }
    if upstream.prewarm > 0, upstream.http == .one, upstream.prewarm > upstream.maxIdleConnections {
      context.error(
        map.keyPosition(.prewarm), "more connections are opened ahead than `max_idle_connections` keeps",
        cure: "write \(quoted("prewarm: \(upstream.maxIdleConnections)")) or less")
    }
    context.read(map[.maxConnectionAge], into: &upstream.maximumConnectionAge) { context.duration($0) }
    context.read(map[.maxRequestsPerConnection], into: &upstream.maximumRequestsPerConnection) {
      context.integer($0, 1...1_000_000_000)
    }
  }

  // MARK: Balancing

  private enum BalanceWord: String, CaseIterable {
    case roundRobin = "round_robin"
    case leastRequests = "least_requests"
  }

  private func balance(_ node: Node) -> BalanceConfiguration? {
    guard case .mapping = node.content else {
      let word: BalanceWord? = context.word(node, "a balance")
      return word.map { $0 == .roundRobin ? .roundRobin : .leastRequests }
    }
    let section = Sections.balance
    guard let map = MappingReader(node, section, context) else { return nil }
    return map.required(.hash, section, context, cure: "write `hash: \"header:x-user-id\"`")
      .flatMap { hashKey($0) }.map { .hash($0) }
  }

  private func hashKey(_ node: Node) -> BalanceConfiguration.HashKey? {
    guard let text = context.name(node, "what is hashed") else { return nil }
    switch text.value {
    case "client_address": return .clientAddress
    case "path": return .path
    default: break
    }
    if let name = text.value.dropping(prefix: "header:"), HeaderName.isToken(name) { return .header(name.lowercased()) }
    if let name = text.value.dropping(prefix: "cookie:"), HeaderName.isToken(name) { return .cookie(name) }
    let near = text.isSecret ? nil : context.nearest(text.value, in: ["client_address", "path"])
    context.error(
      node.position, "\(text.shown) is nothing that a request is hashed by",
      cure: near.map { "did you mean \(quoted($0))?" }
        ?? "write `header:NAME`, `cookie:NAME`, `client_address` or `path`")
    return nil
  }

  // MARK: Health

  private func healthCheck(
    _ node: Node, _ kind: UpstreamConfiguration.BackendProtocol
  ) -> HealthCheckConfiguration? {
    guard let map = MappingReader(node, Sections.healthCheck, context) else { return nil }
    let question = question(map, kind)
    var result = HealthCheckConfiguration(question ?? .path("/"))
    context.read(map[.interval], into: &result.interval) { context.duration($0) }
    context.read(map[.timeout], into: &result.timeout) { context.duration($0) }
    context.read(map[.healthy], into: &result.healthy) { context.integer($0, 1...100) }
    context.read(map[.unhealthy], into: &result.unhealthy) { context.integer($0, 1...100) }
    context.read(map[.statuses], into: &result.statuses) { statuses($0) }
    context.read(map[.host], into: &result.host) { context.hostPattern($0) }
    if map[.statuses] != nil, map[.path] == nil {
      context.error(
        map.keyPosition(.statuses), "`statuses` goes with `path` only: a gRPC check has an answer of its own",
        cure: "leave it out")
    }
    if result.host?.hasPrefix("*") == true {
      context.error(map.keyPosition(.host), "a host with `*` cannot be asked for", cure: "write one host")
    }
    return question == nil ? nil : result
  }

  private func question(
    _ map: MappingReader<HealthCheckKey>, _ kind: UpstreamConfiguration.BackendProtocol
  ) -> HealthCheckConfiguration.Question? {
    if let node = map[.grpc] {
      if map[.path] != nil {
        context.error(map.keyPosition(.path), "a check has either a `path` or `grpc`", cure: "keep one")
        return nil
      }
      guard let text = context.text(node, "true, or the name of a service") else { return nil }
      if ["false", "off", "no"].contains(text.value.lowercased()) {
        context.error(node.position, "`grpc` is off, and there is no `path`", cure: "write `grpc: true`")
        return nil
      }
      if !kind.isRPC {
        context.error(
          map.keyPosition(.grpc), "an upstream with `protocol: rest` has no gRPC health service",
          cure: "write `path: /healthz`")
        return nil
      }
      return .grpc(service: ["true", "on", "yes"].contains(text.value.lowercased()) ? "" : text.value)
    }
    guard
      let node = map.required(
        .path, Sections.healthCheck, context, cure: "write `path: /healthz`, or `grpc: true`"),
      let text = context.name(node, "a path")
    else { return nil }
    if kind == .grpc {
      context.error(
        map.keyPosition(.path), "a server with `protocol: grpc` is asked by its health service",
        cure: "write `grpc: true`")
      return nil
    }
    guard text.value.hasPrefix("/"), text.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 }) else {
      context.error(node.position, "\(text.shown) is not a path", cure: "write it as `/healthz`")
      return nil
    }
    return .path(text.value)
  }

  /// `200`, `"200-299"`, or a list of such.
  private func statuses(_ node: Node) -> [ClosedRange<Int>]? {
    var nodes = [node]
    if case .sequence(let elements) = node.content { nodes = elements }
    var result: [ClosedRange<Int>] = []
    for node in nodes {
      guard let text = context.name(node, "a status") else { return nil }
      let ends = text.value.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        .map { Quantity.integer($0) ?? 0 }
      guard let first = ends.first, let last = ends.last, (200...599).contains(first), (first...599).contains(last)
      else {
        context.error(
          node.position, "\(text.shown) is no status and no range of statuses", cure: "write `200` or `\"200-299\"`")
        return nil
      }
      result.append(first...last)
    }
    if result.isEmpty { context.error(node.position, "no status is given", cure: "write `statuses: [200]`") }
    return result.isEmpty ? nil : result
  }

  private func outlierEjection(_ node: Node) -> OutlierEjectionConfiguration? {
    guard let map = MappingReader(node, Sections.outlierEjection, context) else { return nil }
    var result = OutlierEjectionConfiguration()
    context.read(map[.consecutiveFailures], into: &result.consecutiveFailures) { context.integer($0, 1...10_000) }
    context.read(map[.baseEjection], into: &result.baseEjection) { context.duration($0) }
    result.longestEjection = max(result.longestEjection, result.baseEjection)
    context.read(map[.longestEjection], into: &result.longestEjection) { context.duration($0) }
    context.read(map[.maxEjected], into: &result.mostEjected) { context.share($0) }
    if result.longestEjection < result.baseEjection {
      context.error(
        map.keyPosition(.longestEjection), "`longest_ejection` is shorter than `base_ejection`",
        cure: "write a longer one, or leave it out")
    }
    return result
  }

  // MARK: Retries and bounds

  func retries(_ node: Node) -> RetryConfiguration? {
    guard let map = MappingReader(node, Sections.retries, context) else { return nil }
    var result = RetryConfiguration()
    context.read(map[.attempts], into: &result.attempts) { context.integer($0, 0...20) }
    let given = map[.on].flatMap { conditions($0) }
    if let given { result.conditions = given }
    if let node = map[.backoff], let backoff = MappingReader(node, Sections.backoff, context) {
      context.read(backoff[.base], into: &result.backoffBase) { context.duration($0, zeroAllowed: true) }
      result.longestBackoff = max(result.longestBackoff, result.backoffBase)
      context.read(backoff[.max], into: &result.longestBackoff) { context.duration($0, zeroAllowed: true) }
      if result.longestBackoff < result.backoffBase {
        context.error(
          backoff.keyPosition(.max), "`max` is shorter than `base`", cure: "write a longer one, or leave it out")
      }
    }
    context.read(map[.perTryTimeout], into: &result.perTryTimeout) { context.duration($0) }
    context.read(map[.maxRetryAfter], into: &result.longestRetryAfter) { context.duration($0, zeroAllowed: true) }
    context.read(map[.budget], into: &result.budget) { context.share($0) }
    context.read(map[.minPerSecond], into: &result.minimumPerSecond) { context.integer($0, 0...1_000_000) }
    context.read(map[.body], into: &result.body) { context.size($0, 0...(16 << 20)) }
    if given?.contains(.timeout) == true, map[.perTryTimeout] == nil {
      context.error(
        map.keyPosition(.on), "`timeout` of a try never comes without `per_try_timeout`",
        cure: "write `per_try_timeout: 1s`")
    }
    return result
  }

  private func conditions(_ node: Node) -> Set<RetryConfiguration.Condition>? {
    guard let elements = context.list(node, "reasons for a retry") else { return nil }
    var result: Set<RetryConfiguration.Condition> = []
    for element in elements {
      guard let condition: RetryConfiguration.Condition = context.word(element, "a reason for a retry") else {
        return nil
      }
      result.insert(condition)
    }
    return result
  }

  private func limits(_ node: Node) -> UpstreamLimitsConfiguration {
    var result = UpstreamLimitsConfiguration()
    guard let map = MappingReader(node, Sections.upstreamLimits, context) else { return result }
    context.read(map[.maxConnections], into: &result.connections) { context.integer($0, 1...1_000_000) }
    context.read(map[.maxPending], into: &result.pending) { context.integer($0, 0...1_000_000) }
    context.read(map[.maxRequests], into: &result.requests) { context.integer($0, 1...1_000_000) }
    return result
  }
}
