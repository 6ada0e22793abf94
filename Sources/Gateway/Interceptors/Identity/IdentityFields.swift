import Configuration
import HTTPModel

/// The fields by which the gateway tells backends who calls. From clients they are taken away, whatever the route, and
/// however they spell them: some servers read `x_user_id` as `x-user-id`.
struct IdentityFields: Sendable {
  private let names: [[UInt8]]

  /// Nil when no interceptor sets one.
  init?(_ configuration: GatewayConfiguration) {
    let names = Set(configuration.allInterceptors.flatMap(\.identityHeaders))
    if names.isEmpty { return nil }
    self.names = names.sorted().map { Array($0.utf8) }
  }

  func remove(from fields: FieldBlock) {
    for index in fields.indices where !fields.entry(at: index).isRemoved {
      let isOurs = fields.withName(at: index) { name in
        names.contains { FieldSpelling.isSame($0.span, name) }
      }
      if isOurs { fields.remove(at: index) }
    }
  }
}
