extension Sections {
  static let jwt = Section<JWTKey>("a check of tokens", hints: jwtHints)
  static let jwtIssuer = Section<JWTKey>(
    "an issuer", keys: JWTKey.ofIssuer,
    hints: Dictionary(
      uniqueKeysWithValues: JWTKey.allCases.filter { !JWTKey.ofIssuer.contains($0) }.map { key in
        (key.rawValue, KeyHint.misplaced("write it beside `issuers:`, for all of them"))
      }))
  static let keySet = Section<KeySetKey>("a key set", shorthand: .url)

  private static let jwtHints: [String: KeyHint] = [
    "audience": .misplaced("write `audiences: [NAME]`"), "jwks_uri": .misplaced("write `jwks: { url: … }`"),
    "secret": .misplaced("put it into a key set of `kty: oct` and name that as `jwks: { file: … }`"),
  ]
}

enum JWTKey: String, SectionKey {
  case issuers
  case issuer, audiences, algorithms, jwks, leeway, required, expiry
  case from, forward, strip, optional

  /// What each issuer has of its own.
  static let ofIssuer: [JWTKey] = [.issuer, .audiences, .algorithms, .jwks, .leeway, .required, .expiry]
}

enum KeySetKey: String, SectionKey {
  case url, file, refresh, tls
}
