import REST

/// The tables of one ``RouteGroup`` while they are filled.
struct GroupBuilder {
  private let hosts: [String]
  private var trie = RouteTrieBuilder()
  private var targets: [(route: Int, binding: Int)] = []
  private var procedures: [String: Int] = [:]

  init(hosts: [String]) { self.hosts = hosts }

  /// Adds a rule that no other one of the group equals: ``RuleConflicts`` has looked.
  mutating func insert(_ method: String, _ template: PathTemplate, route: Int, binding: Int) {
    _ = trie.insert(method: method, template: template, target: targets.count)
    targets.append((route, binding))
  }

  /// False when the path is taken.
  mutating func insertProcedure(_ path: String, route: Int) -> Bool {
    guard procedures[path] == nil else { return false }
    procedures[path] = route
    return true
  }

  func build() -> RouteGroup {
    RouteGroup(
      hosts: hosts, trie: trie.build(), targets: targets,
      procedures: ProcedureTable(procedures.map { (path: $0.key, route: $0.value) }))
  }
}
