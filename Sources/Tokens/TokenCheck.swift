import Bytes
package import Configuration
package import JSONValues

/// How tokens of one issuer are checked: which algorithms, and what their claims have to be.
package struct TokenCheck: Sendable {
  package var algorithms: [SignatureAlgorithm]
  package var rules: ClaimRules

  package init(algorithms: [SignatureAlgorithm], rules: ClaimRules) {
    self.algorithms = algorithms
    self.rules = rules
  }

  /// Checks a token: its signature first, so that nothing is said about claims that anybody could have written.
  ///
  /// - Parameters:
  ///   - text: what `token` was read from.
  ///   - now: seconds since 1970.
  /// - Returns: the claims, and when they stop being acceptable.
  package func verify(
    _ token: CompactToken, of text: Span<UInt8>, with keys: KeySet, at now: Double
  ) throws(TokenFault) -> (claims: JSONValue, validUntil: Double) {
    try keys.verify(token, of: text, allowing: algorithms)
    let claims = try token.unverifiedClaims()
    return (claims, try rules.check(claims, at: now))
  }
}
