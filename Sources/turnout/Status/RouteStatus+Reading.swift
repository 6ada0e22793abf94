import JSONValues

/// All that one answer of `/routes` says.
struct GatewayStatus: Sendable {
  var replica: String
  var now: String
  /// What is wrong with the gateway itself.
  var warnings: [String]
  /// The hash of its configuration; empty: it tells none.
  var config: String
  var routes: [RouteStatus]

  /// Nil when the JSON is no route table.
  init?(_ json: JSONValue) {
    guard let elements = json["routes"]?.elements else { return nil }
    replica = Figures.line(json["replica"]?.text ?? "")
    now = Figures.line(json["now"]?.text ?? "")
    warnings = Self.warnings(of: json)
    config = Figures.line(json["config"]?["hash"]?.text ?? "")
    routes = elements.compactMap { RouteStatus($0) }
  }

  /// Those of the route table, or of an answer to a change.
  static func warnings(of answer: JSONValue?) -> [String] {
    (answer?["warnings"]?.elements ?? []).compactMap { $0.text.map(Figures.line) }
  }

  /// Of all described routes, those that the RPC side answers alone.
  var moved: Int { routes.count { $0.effective.stage == "rpc" } }

  /// The RPC side's part of the calls, and whether these are those of the window or all since the start.
  var movedCalls: (share: Double, isRecent: Bool)? {
    let recent = routes.reduce(into: (rest: 0.0, rpc: 0.0)) { sum, route in
      sum.rest += route.rest?.requests ?? 0
      sum.rpc += route.rpc?.requests ?? 0
    }
    if recent.rest + recent.rpc > 0 { return (recent.rpc / (recent.rest + recent.rpc), true) }
    let all = routes.reduce(into: (rest: 0.0, rpc: 0.0)) { sum, route in
      sum.rest += route.calls.rest
      sum.rpc += route.calls.rpc
    }
    return all.rest + all.rpc > 0 ? (all.rpc / (all.rest + all.rpc), false) : nil
  }

  /// `4 of 14 routes moved; 15.9 % of recent calls answered by RPC`
  var progress: String {
    var text = "\(moved) of \(routes.count) \(routes.count == 1 ? "route" : "routes") moved"
    if let (share, isRecent) = movedCalls {
      let which = isRecent ? "recent calls" : "the calls since the start"
      text += "; \(Figures.share(share)) of \(which) answered by RPC"
    }
    return text
  }
}

extension RouteStatus {
  init?(_ json: JSONValue) {
    guard let name = json["procedure"]?.text, let stage = json["stage"]?.text else { return nil }
    procedure = Figures.line(name)
    effective = Setting(stage: Figures.line(stage), percent: json["percent"]?.number)
    configured = Setting(
      stage: Figures.line(json["configured_stage"]?.text ?? stage), percent: json["configured_percent"]?.number)
    restFaces = (json["faces"]?["rest"]?.elements ?? []).map { face in
      Face(method: Figures.line(face["method"]?.text ?? ""), path: Figures.line(face["path"]?.text ?? ""))
    }
    hosts = (json["hosts"]?.elements ?? []).compactMap { $0.text.map(Figures.line) }
    restBackend = json["backends"]?["rest"]?.text.map(Figures.line)
    rpcBackend = json["backends"]?["rpc"]?.text.map(Figures.line)
    calls = (json["calls"]?["rest"]?.number ?? 0, json["calls"]?["rpc"]?.number ?? 0)
    rest = (json["sides"]?["rest"]).flatMap { Side($0) }
    rpc = (json["sides"]?["rpc"]).flatMap { Side($0) }
    trip = json["guard"].flatMap { Guard($0) }
    if let ramp = json["ramp"], ramp.members != nil { isRampHeld = ramp["held"] == .bool(true) }
    comparison = json["shadow"].flatMap { Comparison($0) }
    dryRun = json["dry_run"].flatMap { DryRun($0) }
    override = json["override"].flatMap { Override($0) }
    fallbacks = json["fallback"].flatMap { Fallbacks($0) }
    restCallers = (json["callers"]?["rest"]?.elements ?? []).map { Caller($0) }
    restFaceCalls = json["callers"]?["calls"]?["rest"]?.number
  }
}

extension RouteStatus.Setting {
  fileprivate init?(_ json: JSONValue) {
    guard let stage = json["stage"]?.text else { return nil }
    self.init(stage: Figures.line(stage), percent: json["percent"]?.number)
  }
}

extension RouteStatus.Side {
  fileprivate init?(_ json: JSONValue) {
    guard json.members != nil else { return nil }
    self.init(
      requests: json["requests"]?.number ?? 0, errorRate: json["error_rate"]?.number, rate: json["rate"]?.number ?? 0,
      p95: json["latency_ms"]?["p95"]?.number)
  }
}

extension RouteStatus.Guard {
  fileprivate init?(_ json: JSONValue) {
    guard let state = json["state"]?.text else { return nil }
    self.init(
      state: state, reason: Figures.line(json["reason"]?.text ?? ""),
      previous: json["previous"].flatMap { RouteStatus.Setting($0) })
  }
}

extension RouteStatus.Comparison {
  fileprivate init?(_ json: JSONValue) {
    guard json.members != nil else { return nil }
    self.init(
      match: json["match"]?.number ?? 0, mismatch: json["mismatch"]?.number ?? 0, error: json["error"]?.number ?? 0,
      skipped: Dictionary(
        (json["skipped"]?.members ?? []).map { (Figures.line($0.name), $0.value.number ?? 0) },
        uniquingKeysWith: { $0 + $1 }),
      differences: (json["differences"]?.elements ?? []).map { one in
        Difference(
          path: Figures.line(one["path"]?.text ?? ""), kind: Figures.line(one["kind"]?.text ?? ""),
          count: one["count"]?.number ?? 0)
      })
  }
}

extension RouteStatus.DryRun {
  fileprivate init?(_ json: JSONValue) {
    guard json.members != nil else { return nil }
    self.init(
      requests: json["requests"]?.number ?? 0, refused: json["refused"]?.number ?? 0,
      misfit: json["misfit"]?.number ?? 0)
  }
}

extension RouteStatus.Fallbacks {
  fileprivate init?(_ json: JSONValue) {
    guard json.members != nil else { return nil }
    func sum(_ outcome: String) -> Double {
      (json["rest"]?[outcome]?.number ?? 0) + (json["rpc"]?[outcome]?.number ?? 0)
    }
    self.init(
      answered: sum("answered"), failed: sum("failed"), answeredByREST: json["rpc"]?["answered"]?.number ?? 0)
  }
}

extension RouteStatus.Override {
  fileprivate init?(_ json: JSONValue) {
    guard json.members != nil else { return nil }
    self.init(
      by: Figures.line(json["by"]?.text ?? ""), at: Figures.line(json["at"]?.text ?? ""),
      reason: Figures.line(json["reason"]?.text ?? ""))
  }
}

extension RouteStatus.Caller {
  fileprivate init(_ json: JSONValue) {
    self.init(
      agent: Figures.line(json["agent"]?.text ?? ""), version: Figures.line(json["version"]?.text ?? ""),
      requests: json["requests"]?.number ?? 0, lastSeen: Figures.line(json["last_seen"]?.text ?? ""))
  }

  /// `okhttp 4.9.1`
  var name: String {
    let parts = [agent.isEmpty ? "(not named)" : agent, version].filter { !$0.isEmpty }
    return parts.joined(separator: " ")
  }
}
