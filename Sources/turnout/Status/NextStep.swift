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
    case "rest": return beforeTheMove
    case "shadow": return afterComparison
    case "canary": return afterShare
    default: return afterMove
    }
  }

  /// Text from outside without marks of code, of which the sentence has its own.
  private static func plain(_ text: String) -> String { text.map { $0 == "`" ? "'" : String($0) }.joined() }

  private var beforeTheMove: String {
    if let dryRun, dryRun.faults > 0 {
      return
        "The dry run refused \(Figures.count(dryRun.refused)) of \(Figures.count(dryRun.requests)) calls, and "
        + "\(Figures.count(dryRun.misfit)) answers did not fit\(place(of: Self.ofTranslation)): say in `query`, "
        + "`json` or `success_status` what the old API does, or mend the schema."
    }
    guard comparison != nil else { return Self.noCopies }
    return "Put it into `shadow` to compare the answers; a method with side effects goes to `canary`."
  }

  /// The kinds of differences that translation finds, without an answer of the other side.
  private static let ofTranslation: Set<String> = ["request", "type", "status", "name", "form"]
  private static let noCopies = "Streams have no copies: go on to `canary`, with a guard."

  /// Where most differences are, of these kinds or of any.
  private func place(of kinds: Set<String>? = nil) -> String {
    let found = comparison?.differences.filter { kinds?.contains($0.kind) ?? true }
    guard let most = found?.max(by: { $0.count < $1.count }) else { return "" }
    return ", most at `\(most.path.isEmpty ? "(the whole answer)" : Self.plain(most.path))` (\(most.kind))"
  }

  /// Why there is nothing to compare, and whether there will be.
  private func withoutComparison(_ skipped: [String: Double]) -> String {
    guard let most = skipped.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), most.value > 0 else {
      return "Wait: no answer was compared yet."
    }
    switch most.key {
    case "unsafe":
      return "It may have side effects, so no call is copied: go on to `canary`, with a guard, or allow copies by "
        + "`shadow: { unsafe: true }`."
    case "streaming": return Self.noCopies
    default:
      return "No answer was compared yet; \(Figures.count(most.value)) calls were left out (\(Self.plain(most.key)))."
    }
  }

  private var afterComparison: String {
    guard let comparison else { return Self.noCopies }
    guard comparison.match + comparison.mismatch + comparison.error > 0 else {
      return withoutComparison(comparison.skipped)
    }
    if comparison.mismatch > 0 {
      let all = comparison.match + comparison.mismatch
      return
        "\(Figures.count(comparison.mismatch)) of \(Figures.count(all)) answers differ\(place()): mend the new backend, "
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
    if restFaceCalls == 0 {
      return "Nobody has called the REST face since this process began: it can be retired when that is long enough, "
        + "and every replica says so."
    }
    return "Watch who still calls the REST face."
  }
}
