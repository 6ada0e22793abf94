/// What to do next with a route, from what is known of it.
extension RouteStatus {
  var nextStep: String {
    if let trip, trip.state == "tripped" {
      let again = trip.previous.map { ", then set \($0.text) again" } ?? ", then set its stage again"
      return "The guard took it back (\(Self.plain(trip.reason))). Find the cause\(again)."
    }
    guard rpcBackend != nil else { return "It has no RPC backend yet: name one with `rpc:`." }
    guard restBackend != nil else { return "It has no REST backend: nothing is left to move." }
    switch effective.stage {
    case "rest": return "Put it into `shadow` to compare the answers; a method with side effects goes to `canary`."
    case "shadow": return afterComparison
    case "canary": return afterShare
    default: return afterMove
    }
  }

  /// Text from outside without marks of code, of which the sentence has its own.
  private static func plain(_ text: String) -> String { text.map { $0 == "`" ? "'" : String($0) }.joined() }

  private var afterComparison: String {
    guard let comparison, comparison.match + comparison.mismatch + comparison.error > 0 else {
      return "Wait: no answer was compared yet."
    }
    if comparison.mismatch > 0 {
      let most = comparison.differences.max { $0.count < $1.count }
      let place =
        most.map { ", most at `\($0.path.isEmpty ? "(the whole answer)" : Self.plain($0.path))` (\($0.kind))" } ?? ""
      let all = comparison.match + comparison.mismatch
      return
        "\(Figures.count(comparison.mismatch)) of \(Figures.count(all)) answers differ\(place): mend the new backend, "
        + "or name what may differ in `shadow.ignore`."
    }
    if comparison.error > 0 {
      return "\(Figures.count(comparison.error)) copies failed: see why before any caller does."
    }
    return "\(Figures.count(comparison.match)) answers are the same: go on to `canary`, with a guard."
  }

  private var afterShare: String {
    if isRampHeld == true { return "Its ramp is held: let it go on, or set the share." }
    if isRampHeld == false { return "Nothing: the ramp raises the share while the guard is content." }
    if trip == nil { return "Give it a `guard`, then raise the share." }
    return (effective.percent ?? 0) >= 100
      ? "All callers are moved: set `rpc`." : "Raise the share while the guard is content."
  }

  private var afterMove: String {
    if let number = fallbacks?.answeredByREST, number > 0 {
      return
        "\(Figures.count(number)) \(number == 1 ? "call" : "calls") failed on the RPC side and went to REST: find the "
        + "cause before the REST backend goes."
    }
    if !restCallers.isEmpty {
      let one = restCallers.count == 1
      return "\(restCallers.count) \(one ? "caller" : "callers") still \(one ? "uses" : "use") the REST face."
    }
    if restFaceCalls == 0 { return "Nobody has called the REST face since the start: it can be retired." }
    return "Watch who still calls the REST face."
  }
}
