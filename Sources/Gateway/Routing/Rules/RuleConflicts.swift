import ProtobufSchema
import REST

/// Finds rules that match the same requests, over all services that share an authority.
struct RuleConflicts {
  private struct Key: Hashable {
    let method: String
    let shape: PathTemplate.Shape
  }

  private struct Entry {
    let hosts: Set<String>
    let procedure: String
    let rule: PlacedRule
  }

  private var entries: [Key: [Entry]] = [:]

  /// Notes a rule.
  ///
  /// - Parameter hosts: empty for every authority.
  /// - Returns: what is wrong when an equivalent rule was noted before, naming both.
  mutating func insert(
    _ rule: PlacedRule, _ template: PathTemplate, hosts: [String], procedure: String
  ) -> String? {
    let key = Key(method: rule.rule.method, shape: template.shape)
    let hosts = Set(hosts)
    let present = entries[key, default: []].first { meet($0.hosts, hosts) }
    entries[key, default: []].append(Entry(hosts: hosts, procedure: procedure, rule: rule))
    guard let present else { return nil }
    if present.procedure == procedure { return "\(procedure) has the rule \(rule.name) twice" }
    return "\(procedure) and \(present.procedure) (\(present.rule.description)) have the same rule \(rule.name)"
  }

  /// A service for certain authorities goes before one for all: those are no conflict.
  private func meet(_ left: Set<String>, _ right: Set<String>) -> Bool {
    left.isEmpty == right.isEmpty && (left.isEmpty || !left.isDisjoint(with: right))
  }
}
