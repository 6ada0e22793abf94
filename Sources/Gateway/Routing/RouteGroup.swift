import Bytes
import HTTPModel
import REST

/// The routes that answer for the same authorities.
struct RouteGroup: Sendable {
  /// Authorities, lower case; `*.example.com` for any subdomain; empty: every authority.
  let hosts: [String]
  let trie: RouteTrie
  /// What a target of the trie means.
  let targets: [(route: Int, binding: Int)]
  let procedures: ProcedureTable

  init(hosts: [String], trie: RouteTrie, targets: [(route: Int, binding: Int)], procedures: ProcedureTable) {
    self.hosts = hosts
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
  func serves(_ authority: Span<UInt8>) -> Bool {
    if hosts.isEmpty { return true }
    let host = Self.withoutPort(authority)
    for pattern in hosts {
      let bytes = Array(pattern.utf8)
      if ASCII.equal(bytes.span, authority) || ASCII.equal(bytes.span, host) { return true }
      if pattern.hasPrefix("*."), host.count >= bytes.count {
        let suffix = bytes.span.extracting(1..<bytes.count)
        if ASCII.equal(host.extracting(host.count - suffix.count..<host.count), suffix) { return true }
      }
    }
    return false
  }

  @_lifetime(copy authority)
  private static func withoutPort(_ authority: Span<UInt8>) -> Span<UInt8> {
    var end = authority.count
    while end > 0, ASCII.isDigit(authority[end - 1]) { end -= 1 }
    guard end > 0, authority[end - 1] == UInt8(ascii: ":") else { return authority }
    return authority.extracting(0..<end - 1)
  }
}
