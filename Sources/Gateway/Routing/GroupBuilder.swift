import REST

/// The tables of one ``RouteGroup`` while they are filled.
struct GroupBuilder {
  private let hosts: [String]
  private var trie = RouteTrieBuilder()
  private var targets: [(route: Int, binding: Int)] = []
  /// The procedure of each target, to name it in a conflict.
  private var owners: [String] = []
  private var procedures: [String: Int] = [:]

  init(hosts: [String]) { self.hosts = hosts }

  /// - Returns: the procedure that has an equivalent rule already.
  mutating func insert(
    _ method: String, _ template: PathTemplate, route: Int, binding: Int, procedure: String
  ) -> String? {
    let target = targets.count
    targets.append((route, binding))
    owners.append(procedure)
    return trie.insert(method: method, template: template, target: target).map { owners[$0] }
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
