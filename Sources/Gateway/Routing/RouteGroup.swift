import Bytes
import HTTPModel
import REST

/// The routes that answer for the same authorities. An object, for each request looks at it.
final class RouteGroup: Sendable {
  /// Authorities, lower case; `*.example.com` for any subdomain; empty: every authority.
  let hosts: [String]
  private let patterns: [HostPattern]
  let trie: RouteTrie
  /// What a target of the trie means.
  let targets: [(route: Int, binding: Int)]
  let procedures: ProcedureTable

  init(hosts: [String], trie: RouteTrie, targets: [(route: Int, binding: Int)], procedures: ProcedureTable) {
    self.hosts = hosts
    patterns = hosts.map { HostPattern($0) }
    self.trie = trie
    self.targets = targets
    self.procedures = procedures
  }

  /// How narrowly the group is meant: named hosts before wildcards before every host.
  var specificity: Int {
    if hosts.isEmpty { return 0 }
    return hosts.contains { !$0.hasPrefix("*.") } ? 2 : 1
  }

  /// Whether the group answers for an authority, port or not.
  func serves(_ authority: Span<UInt8>) -> Bool { patterns.isEmpty || patterns.contains { $0.fits(authority) } }
}
