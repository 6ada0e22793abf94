import Configuration
import Diagnostics
import Migration
import ProtobufSchema

/// What is wrong with the shadow settings of a service or a method, now that the schema is known.
enum ShadowChecks {
  /// Those of a service: a path has to mean something in the answer of one of its methods.
  static func faults(of service: ServiceConfiguration, _ type: ServiceType, _ schema: Schema) -> [Diagnostic] {
    pathFaults(service.settings.shadow, schema, type.methods.map(\.output))
  }

  /// Those that a method has of its own.
  static func faults(
    _ method: MethodType, _ type: ServiceType, _ service: RouteSettings, _ settings: RouteSettings, _ rule: HTTPRule?,
    _ schema: Schema
  ) -> [Diagnostic] {
    let name = "\(type.fullName)/\(method.name)"
    var own = settings.shadow
    if own.ignore == service.shadow.ignore { own.ignore = [] }
    if own.unordered == service.shadow.unordered { own.unordered = [] }
    if own.tolerance == service.shadow.tolerance { own.tolerance = [] }
    var faults = pathFaults(own, schema, [method.output])
    let isSafe = settings.shadow.unsafe || Route.isSafe(method, boundTo: rule?.method)
    if settings.stage == .shadow, settings.stagePosition != service.stagePosition, !isSafe {
      faults.append(unsafe(name, settings.stagePosition))
    }
    guard settings.shadow.back, let position = settings.shadow.backPosition else { return faults }
    let isOwn = position != service.shadow.backPosition
    if isOwn, !isSafe { faults.append(unsafe(name, position)) }
    if settings.rest == nil || settings.rpc == nil, isOwn || method.name == type.methods.first?.name {
      faults.append(
        Diagnostic(
          at: position, "\(name): a copy of what the rpc side answers needs `rest` and `rpc`",
          cure: "name both upstreams, or leave out `back`"))
    }
    return faults
  }

  /// A copy doubles side effects, so it is for methods that have none.
  private static func unsafe(_ name: String, _ position: SourcePosition) -> Diagnostic {
    Diagnostic(
      at: position, "\(name) may have side effects, so it cannot be shadowed",
      cure: "declare idempotency_level = NO_SIDE_EFFECTS if it has none, or write `shadow: { unsafe: true }`")
  }

  private static func pathFaults(
    _ settings: RouteSettings.Shadow, _ schema: Schema, _ messages: [Int]
  ) -> [Diagnostic] {
    ComparisonRules.faults(of: settings, in: schema, messages: messages).map { fault in
      // What is wrong names a part of the path.
      if fault.path.isSecret {
        return Diagnostic(
          at: fault.path.position, "the path \(fault.path.shown) means nothing in the answer",
          cure: "write names of its fields with dots between them")
      }
      return Diagnostic(at: fault.path.position, "\(fault.path.shown): \(fault.what)", cure: fault.cure)
    }
  }
}
