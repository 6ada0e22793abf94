/// Who asks for a change at the admin endpoint, for histories and logs.
package struct AdminActor: Sendable, Equatable, ExpressibleByStringLiteral {
  /// Empty: unknown.
  package var address: String
  /// What the client calls itself, cut to what a log line takes; may be empty.
  package var agent = ""
  /// Whether it showed the admin token.
  package var showedToken = false

  package init(address: String, agent: String = "", showedToken: Bool = false) {
    self.address = address
    self.agent = String(decoding: agent.utf8.prefix(128), as: UTF8.self)
    self.showedToken = showedToken
  }

  package init(stringLiteral value: String) { self.init(address: value) }
}
