import JSONValues

/// What `/routes` says of one route, as `status` and `report` show it. Every part may be missing.
struct RouteStatus: Sendable, Equatable {
  /// A stage with its share, as `canary 25 %`.
  struct Setting: Sendable, Equatable {
    var stage: String
    var percent: Double?

    var text: String {
      guard stage == "canary", let percent else { return stage }
      return "canary \(Figures.decimal(percent, digits: 2)) %"
    }
  }

  struct Side: Sendable, Equatable {
    var requests: Double
    /// A part of one; nil before there was a call.
    var errorRate: Double?
    /// Calls per second.
    var rate: Double
    /// Milliseconds.
    var p95: Double?
  }

  struct Guard: Sendable, Equatable {
    var state: String
    var reason: String
    var previous: Setting?
  }

  struct Comparison: Sendable, Equatable {
    struct Difference: Sendable, Equatable {
      var path: String
      var kind: String
      var count: Double
    }

    var match: Double
    var mismatch: Double
    var error: Double
    /// Calls that were to be copied and were not compared, by why.
    var skipped: [String: Double]
    var differences: [Difference]
  }

  /// Calls that were translated on trial, since the gateway's start.
  struct DryRun: Sendable, Equatable {
    var requests: Double
    /// Requests that a move would refuse.
    var refused: Double
    /// Answers that do not fit the schema.
    var misfit: Double

    var faults: Double { refused + misfit }
  }

  struct Caller: Sendable, Equatable {
    var agent: String
    var version: String
    var requests: Double
    var lastSeen: String
  }

  struct Face: Sendable, Equatable {
    var method: String
    var path: String
  }

  struct Override: Sendable, Equatable {
    var by: String
    var at: String
    var reason: String
  }

  /// Calls that failed on their side and were asked again on the other, since the gateway's start.
  struct Fallbacks: Sendable, Equatable {
    var answered: Double
    /// Both sides failed.
    var failed: Double
    /// Of those that were answered, by the rest side after the rpc side had failed.
    var answeredByREST: Double
  }

  var procedure: String
  var effective: Setting
  var configured: Setting
  var restFaces: [Face]
  /// Empty: every authority.
  var hosts: [String]
  var restBackend: String?
  var rpcBackend: String?
  /// Since the gateway's start, by who answered.
  var calls: (rest: Double, rpc: Double)
  var rest: Side?
  var rpc: Side?
  var trip: Guard?
  /// Whether a ramp raises the share; nil when there is none.
  var isRampHeld: Bool?
  /// Nil for a stream, of which there are no copies.
  var comparison: Comparison?
  /// Nil when nothing is translated on trial.
  var dryRun: DryRun?
  var override: Override?
  /// Nil when no call is asked again.
  var fallbacks: Fallbacks?
  var restCallers: [Caller]
  /// Calls to the REST face since the start; nil when it is not told.
  var restFaceCalls: Double?

  static func == (left: Self, right: Self) -> Bool {
    left.procedure == right.procedure && left.effective == right.effective && left.configured == right.configured
      && left.calls == right.calls && left.rest == right.rest && left.rpc == right.rpc && left.trip == right.trip
      && left.comparison == right.comparison && left.override == right.override
      && left.fallbacks == right.fallbacks && left.dryRun == right.dryRun
      && left.restCallers == right.restCallers
  }

  var method: String {
    procedure.lastIndex(of: "/").map { String(procedure[procedure.index(after: $0)...]) } ?? procedure
  }

  /// Calls per second on both sides; nil when it is not told.
  var rate: Double? { rest == nil && rpc == nil ? nil : (rest?.rate ?? 0) + (rpc?.rate ?? 0) }

  /// What stands behind the stage: what somebody should know besides.
  var notes: [String] {
    var notes: [String] = []
    switch trip?.state {
    case "tripped": notes.append("guard tripped: \(trip?.reason ?? "")")
    case "alerting": notes.append("guard warns: \(trip?.reason ?? "")")
    case "holding": notes.append("guard holds: \(trip?.reason ?? "")")
    case nil: break
    default: notes.append("guarded")
    }
    if let dryRun, dryRun.faults > 0 {
      notes.append("dry run: \(Figures.count(dryRun.faults)) of \(Figures.count(dryRun.requests)) unfit")
    }
    if let isRampHeld { notes.append(isRampHeld ? "ramp held" : "ramping") }
    if let fallbacks, fallbacks.answered + fallbacks.failed > 0 {
      let failed = fallbacks.failed > 0 ? ", \(Figures.count(fallbacks.failed)) in vain" : ""
      notes.append("\(Figures.count(fallbacks.answered + fallbacks.failed)) asked again\(failed)")
    }
    if let override { notes.append("override" + (override.by.isEmpty ? "" : " by \(override.by)")) }
    return notes
  }
}
