import Configuration
import Diagnostics
import REST

/// What RPC callers of a REST backend cannot ask for, found at load.
///
/// Warnings, because REST callers are served all the same: only the calls that cannot be expressed are refused.
enum ReverseChecks {
  /// Names beyond these are counted.
  private static let shown = 8

  static func warnings(
    _ bindings: [RESTBinding], _ rule: SourcePosition?, _ settings: RouteSettings, _ procedure: String
  ) -> [Diagnostic] {
    guard let first = bindings.first else {
      // A rule that is wrong was told already.
      guard rule == nil else { return [] }
      return [
        Diagnostic(
          severity: .warning, at: settings.stagePosition,
          "\(procedure) has no HTTP rule: calls that its REST side should answer get `unimplemented` while its stage is "
            + settings.stage.rawValue,
          cure: "annotate it with `google.api.http`, give it `http: { get: /v1/x }`, or set `stage: rpc`")
      ]
    }
    let able = bindings.filter { $0.reverseFault == nil }
    if able.isEmpty, let fault = first.reverseFault {
      return [
        Diagnostic(
          severity: .warning, at: settings.stagePosition,
          "\(procedure) cannot be asked by RPC while its stage is \(settings.stage.rawValue): \(fault)")
      ]
    }
    // A field counts if no binding can carry it.
    let lost = able.dropFirst().reduce(into: able.first?.unsendableFields ?? []) { lost, other in
      lost.removeAll { !other.unsendableFields.contains($0) }
    }
    guard !lost.isEmpty else { return [] }
    let more = lost.count > shown ? " and \(lost.count - shown) more" : ""
    return [
      Diagnostic(
        severity: .warning, at: rule ?? settings.stagePosition,
        "\(procedure): RPC calls that set \(listed(lost.prefix(shown).map { $0 }, "or"))\(more) are refused while "
          + "its stage is \(settings.stage.rawValue): their place is the query, which holds no such values",
        cure: "give the rule a `body`")
    ]
  }
}
