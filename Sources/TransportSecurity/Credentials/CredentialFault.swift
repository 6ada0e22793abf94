/// Why a file of certificates or keys cannot be used. Never says anything of a file's content.
package struct CredentialFault: Error, Sendable, Equatable {
  package var path: String
  /// Reads after the file's name: `it holds no PEM certificate`.
  package var reason: String
  /// What to do; may be empty.
  package var cure: String

  package init(_ path: String, _ reason: String, cure: String = "") {
    self.path = path
    self.reason = reason
    self.cure = cure
  }
}
