import Configuration
import EventLoops
import JSONValues
import Tokens

/// What `jwt` wants of tokens, shared by all loops.
final class JWTPlan: Sendable {
  struct Issuer: Sendable {
    let name: String?
    let check: TokenCheck
    let keys: KeySource
  }

  let issuers: [Issuer]
  let place: TokenPlace
  let strips: Bool
  let isOptional: Bool
  /// The claims that go upstream, by the field that carries each.
  private let forwarded: [(claim: String, field: [UInt8])]

  init(_ configuration: JWTConfiguration, _ issuers: [Issuer]) {
    self.issuers = issuers
    place = TokenPlace(configuration.place)
    strips = configuration.strips
    isOptional = configuration.isOptional
    forwarded = configuration.forward.map { (claim: $0.claim, field: Array($0.header.utf8)) }
  }

  /// Changes when the keys of any issuer do.
  var generation: Int {
    if issuers.count == 1 { return issuers[0].keys.generation }
    return issuers.reduce(0) { $0 &+ $1.keys.generation }
  }

  /// Who says to have signed a token; nil: nobody who is known.
  func issuer(of token: CompactToken) throws(TokenFault) -> Issuer? {
    if issuers.count == 1 { return issuers.first }
    guard let name = try token.unverifiedClaims()["iss"]?.text else { return nil }
    return issuers.first { $0.name == name }
  }

  func verified(_ claims: JSONValue) -> VerifiedToken {
    var fields: [(name: [UInt8], value: [UInt8])] = []
    for (claim, field) in forwarded {
      guard let value = Claim.find(claim, in: claims).flatMap({ Claim.fieldValue($0) }) else { continue }
      fields.append((name: field, value: value))
    }
    return VerifiedToken(claims: claims, fields: fields)
  }
}

extension TokenCheck {
  init(_ configuration: JWTConfiguration.Issuer) {
    var rules = ClaimRules()
    rules.issuer = configuration.issuer
    rules.audiences = configuration.audiences
    rules.leeway = Double(configuration.leeway.wholeNanoseconds) / 1e9
    rules.allowsEndless = configuration.allowsEndless
    rules.required = configuration.required.map { claim in
      (name: claim.name, requirement: claim.values.map { .oneOf($0) } ?? .present)
    }
    self.init(
      algorithms: configuration.algorithms, rules: rules)
  }
}
