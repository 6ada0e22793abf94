package import JSONValues

/// What the claims of a token have to be (RFC 7519 section 4.1).
package struct ClaimRules: Sendable {
  /// What a claim that is required has to be.
  package enum Requirement: Sendable, Equatable {
    /// There, and not null.
    case present
    /// One of these texts; of a list at least one element; of a number or truth its spelling.
    case oneOf([String])
  }

  /// Nil: any issuer.
  package var issuer: String?
  /// Empty: for anybody.
  package var audiences: [String] = []
  /// Seconds that clocks may differ by.
  package var leeway = 60.0
  /// Whether a token without `exp` is taken.
  package var allowsEndless = false
  package var required: [(name: String, requirement: Requirement)] = []

  package init() {}

  /// - Parameter now: seconds since 1970.
  /// - Returns: when the claims stop being acceptable, in seconds since 1970; infinite for a token without `exp`.
  package func check(_ claims: JSONValue, at now: Double) throws(TokenFault) -> Double {
    var end = Double.infinity
    if let expiry = try time(claims, "exp") {
      end = expiry + leeway
      // The time itself is too late (RFC 7519 section 4.1.4).
      guard now < end else { throw TokenFault(.expired, "the token has expired") }
    } else if !allowsEndless {
      throw TokenFault(.expired, "the token has no `exp`")
    }
    if let begin = try time(claims, "nbf"), now + leeway < begin {
      throw TokenFault(.notYetValid, "the token is not valid yet (`nbf`)")
    }
    if let issued = try time(claims, "iat"), now + leeway < issued {
      throw TokenFault(.notYetValid, "the token was issued in the future (`iat`)")
    }
    if let issuer, claims["iss"]?.text != issuer { throw TokenFault(.issuer, "the token is of another issuer") }
    if !audiences.isEmpty, !audience(of: claims).contains(where: audiences.contains) {
      throw TokenFault(.audience, "the token is for another audience")
    }
    for (name, requirement) in required {
      guard let value = Claim.find(name, in: claims), value != .null else {
        throw TokenFault(.claim, "the token has no claim `\(name)`")
      }
      if case .oneOf(let texts) = requirement, !Claim.texts(value).contains(where: texts.contains) {
        throw TokenFault(.claim, "the token's claim `\(name)` is not what is required")
      }
    }
    return end
  }

  private func audience(of claims: JSONValue) -> [String] {
    if let one = claims["aud"]?.text { return [one] }
    return claims["aud"]?.elements?.compactMap(\.text) ?? []
  }

  /// A NumericDate (RFC 7519 section 2).
  private func time(_ claims: JSONValue, _ name: String) throws(TokenFault) -> Double? {
    guard let value = claims[name] else { return nil }
    guard let seconds = value.number, seconds.isFinite else {
      throw TokenFault(.malformed, "the token's `\(name)` is no number")
    }
    return seconds
  }
}
