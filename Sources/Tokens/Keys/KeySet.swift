package import Configuration
import JSONValues

/// The keys of one issuer (RFC 7517 section 5).
package struct KeySet: Sendable {
  /// Keys that are looked at; an issuer publishes a handful.
  package static let maximumKeys = 256
  /// Bytes of the largest document.
  package static let maximumBytes = 512 << 10

  package private(set) var keys: [VerificationKey] = []
  /// Why keys of the document are not used, one line each.
  package private(set) var notes: [String] = []

  /// Reads a JWK set. Keys that are of no use here, or faulty, are left out and noted (RFC 7517 section 5).
  ///
  /// - Throws: ``TokenFault/Kind/malformed``: it is no key set, or none of its keys is of use.
  package init(parsing document: [UInt8]) throws(TokenFault) {
    guard document.count <= Self.maximumBytes else {
      throw TokenFault(.malformed, "the key set is longer than \(Self.maximumBytes) bytes")
    }
    guard let elements = try JSONObject.parse(document, "the key set")["keys"]?.elements else {
      throw TokenFault(.malformed, "the key set has no list `keys`")
    }
    for (index, element) in elements.prefix(Self.maximumKeys).enumerated() {
      do throws(TokenFault) {
        keys.append(try JSONWebKey.read(element))
      } catch {
        notes.append("key number \(index + 1) is not used: \(error.reason)")
      }
    }
    if elements.count > Self.maximumKeys { notes.append("keys after the first \(Self.maximumKeys) are not used") }
    if keys.isEmpty {
      throw TokenFault(.malformed, "no key of the set can be used; \(notes.first ?? "it is empty")")
    }
  }

  /// Whether any key is for one of these algorithms.
  package func serves(_ algorithms: [SignatureAlgorithm]) -> Bool {
    keys.contains { key in algorithms.contains { key.permits($0) } }
  }

  /// Checks the signature of a token.
  ///
  /// - Parameters:
  ///   - text: the same that the token was read from.
  ///   - allowed: the algorithms that may be used, whatever the token says.
  package func verify(
    _ token: CompactToken, of text: Span<UInt8>, allowing allowed: [SignatureAlgorithm]
  ) throws(TokenFault) {
    guard let algorithm = SignatureAlgorithm(rawValue: token.algorithm), allowed.contains(algorithm) else {
      throw TokenFault(.algorithm, "the token's algorithm is not one that is allowed")
    }
    let candidates = try candidates(for: token.keyID)
    let fitting = candidates.filter { $0.permits(algorithm) }
    if fitting.isEmpty {
      // Without a name it may be signed by a key that is yet to come.
      if token.keyID == nil { throw TokenFault(.unknownKey, "no key is for \(algorithm.rawValue)") }
      throw TokenFault(.algorithm, "the token's key is not for \(algorithm.rawValue)")
    }
    let signed = text.extracting(0..<token.signedLength)
    for key in fitting.prefix(Self.maximumTries) where key.verifies(token.signature, of: signed, by: algorithm) {
      return
    }
    throw TokenFault(.signature, "the signature is not by \(algorithm.rawValue) with the issuer's key")
  }

  /// Keys that are tried for a token that names none: each try costs a signature.
  private static let maximumTries = 4

  private func candidates(for id: String?) throws(TokenFault) -> [VerificationKey] {
    guard let id else { return keys }
    let named = keys.filter { $0.id == id }
    if !named.isEmpty { return named }
    // Keys without a name can be anybody's.
    let nameless = keys.filter { $0.id == nil }
    guard nameless.isEmpty else { return nameless }
    throw TokenFault(.unknownKey, "the key set has no key of the token's `kid`")
  }
}
