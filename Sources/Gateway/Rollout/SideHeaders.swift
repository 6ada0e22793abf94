import Configuration
import HTTPModel

/// The headers with which testers choose a side, of all routes. No upstream sees one, whatever the route: a tester's
/// browser sends it with all its requests, those of the fallback too, and it may hold the secret.
struct SideHeaders: Sendable {
  private let names: [[UInt8]]

  /// Nil when no route has an override.
  init?(_ routes: [Route]) {
    let names = Set(routes.compactMap { $0.settings.override?.header })
    if names.isEmpty { return nil }
    self.names = names.sorted().map { Array($0.utf8) }
  }

  func remove(from fields: FieldBlock) {
    for name in names { fields.remove(named: name.span) }
  }
}
