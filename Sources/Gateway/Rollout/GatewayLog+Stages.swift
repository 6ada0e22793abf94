import Migration

extension GatewayLog {
  /// One change of a stage: a sentence for people, then the members that each such event has, so that the audit trail is
  /// in the log too. What a guard did is a warning.
  func write(_ record: StageChangeRecord) {
    let origin = record.origin
    var by = "by the \(origin.kind.rawValue)"
    switch origin.kind {
    case .admin: by = origin.actor.isEmpty ? "at the admin endpoint" : "by \(origin.actor) at the admin endpoint"
    case .peer: by = "by the replica \(origin.actor)"
    case .file, .guard, .ramp: break
    }
    let what =
      switch record.action {
      case .moved: "stage of \(record.procedure) set from \(record.from) to \(record.to) \(by)"
      case .held: "ramp of \(record.procedure) held at \(record.to) \(by)"
      case .released: "ramp of \(record.procedure) let go on from \(record.to) \(by)"
      }
    write(
      origin.kind == .guard ? .warning : .info, origin.reason.isEmpty ? what : "\(what): \(origin.reason)",
      record.members)
  }
}
