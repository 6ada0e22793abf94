import Configuration
import Diagnostics
import ProtobufSchema

/// Which rules a method has: those of the configuration, else those of the service configuration files, else its
/// annotation. One source alone counts; nothing is merged.
struct RuleSources {
  /// By `pkg.Service/Method`.
  private var selected: [String: HTTPRuleConfiguration] = [:]

  /// Finds the methods that the selectors name.
  ///
  /// - Returns: a fault for each pattern that names none.
  static func select(
    _ rules: [SelectedRuleConfiguration], in schema: Schema
  ) -> (sources: RuleSources, faults: [Diagnostic]) {
    var sources = RuleSources()
    var faults: [Diagnostic] = []
    for rule in rules {
      for pattern in rule.patterns {
        let names = procedures(pattern.name, schema)
        if names.isEmpty { faults.append(unknown(pattern, schema)) }
        // The last one wins.
        for name in names { sources.selected[name] = rule.rule }
      }
    }
    return (sources, faults)
  }

  /// The rules of a method in their order; none for a method that is no REST.
  ///
  /// - Parameter fallback: where an annotation's faults are told when its own place is unknown.
  func rules(
    for method: MethodType, of service: ServiceType, configured: HTTPRuleConfiguration?, fallback: SourcePosition
  ) -> [PlacedRule] {
    if let rule = configured ?? selected["\(service.fullName)/\(method.name)"] {
      return ([rule] + rule.additionalBindings).map { PlacedRule($0) }
    }
    guard let rule = method.httpRule else { return [] }
    return ([rule] + rule.additionalBindings).map {
      PlacedRule($0, of: method, in: service.file, fallback: fallback)
    }
  }

  // MARK: Selectors

  private static func procedures(_ pattern: String, _ schema: Schema) -> [String] {
    let isOpen = pattern.last == "*"
    let prefix = isOpen ? String(pattern.dropLast()) : ""
    return schema.services.flatMap { service in
      service.methods.compactMap { method in
        let name = "\(service.fullName).\(method.name)"
        let isMeant = isOpen ? name.hasPrefix(prefix) : name == pattern
        return isMeant ? "\(service.fullName)/\(method.name)" : nil
      }
    }
  }

  private static func unknown(_ pattern: Reference, _ schema: Schema) -> Diagnostic {
    let methods = schema.services.flatMap { service in service.methods.map { "\(service.fullName).\($0.name)" } }
    let candidates = pattern.name.hasSuffix("*") ? schema.services.map { "\($0.fullName).*" } : methods
    // What is near a secret says much of it.
    let near =
      pattern.isSecret
      ? nil : Nearest.match(pattern.name, in: candidates) ?? methods.first { $0.hasSuffix(".\(pattern.name)") }
    return Diagnostic(
      at: pattern.position, "the selector \(pattern.shown) names no method of the schema",
      cure: near.map { "did you mean \(quoted($0))?" } ?? "write `package.Service.Method`, or add its descriptors")
  }
}
