/// The signature algorithms of JOSE that are taken (RFC 7518 section 3.1, RFC 8037 section 3.1). `none` is not among them.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case es256 = "ES256"
  case es384 = "ES384"
  case es512 = "ES512"
  case edDSA = "EdDSA"
  case hs256 = "HS256"
  case hs384 = "HS384"
  case hs512 = "HS512"

  /// Whether whoever can check a signature can also make one.
  var isSymmetric: Bool {
    switch self {
    case .hs256, .hs384, .hs512: true
    default: false
    }
  }

  /// Those whose keys may be published.
  package static let asymmetric = allCases.filter { !$0.isSymmetric }
}
