import Configuration
import Diagnostics
import ProtobufSchema
import REST

/// What is wrong with a `fallback:` of a service or a method, now that the schema is known.
enum FallbackChecks {
  /// - Parameter service: the settings that the method's own lie over.
  static func faults(
    _ method: MethodType, _ type: ServiceType, _ service: RouteSettings, _ settings: RouteSettings, _ rule: HTTPRule?
  ) -> [Diagnostic] {
    let fallback = settings.fallback
    guard fallback.isOn, let position = fallback.position else { return [] }
    let name = "\(type.fullName)/\(method.name)"
    let isOwn = position != service.fallback.position
    var faults: [Diagnostic] = []
    // What a method has from its service is for those of its methods that it can be for.
    if isOwn, !fallback.unsafe, !Route.isSafe(method, boundTo: rule?.method) {
      faults.append(
        Diagnostic(
          at: position, "\(name) may have side effects, so it cannot be asked again on the other side",
          cure: "declare idempotency_level = NO_SIDE_EFFECTS if it has none, or write `fallback: { unsafe: true }`"))
    }
    if settings.rest == nil || settings.rpc == nil, isOwn || method.name == type.methods.first?.name {
      faults.append(
        Diagnostic(
          at: position, "\(name): asking the other side after a failure needs `rest` and `rpc`",
          cure: "name both upstreams, or leave out `fallback`"))
    }
    return faults
  }
}
