import Bytes
import Configuration
import JSONValues
import Tokens

/// What must hold of any bytes that are read as a token, as a key set, or as claims.
package struct TokenReading {
  /// Keys of every kind, whose private halves nobody has.
  private let keys: KeySet

  package init() throws {
    keys = try KeySet(
      parsing: Array(
        (#"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
          + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},"#
          + #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},"#
          + #"{"kty":"oct","k":"c2VjcmV0LW9mLXRoZS1mdXp6ZXItdGhhdC1pcy1sb25nLWVub3VnaC1mb3ItaHM1MTItaW4tYW55LWNhc2UtISE"}]}"#)
          .utf8))
  }

  /// The first property that does not hold.
  package func fault(_ bytes: [UInt8]) -> String? {
    token(bytes) ?? keySet(bytes) ?? claims(bytes)
  }

  private func token(_ bytes: [UInt8]) -> String? {
    let parsed: CompactToken
    do throws(TokenFault) {
      parsed = try CompactToken(parsing: bytes.span)
    } catch {
      return nil
    }
    if bytes.count > CompactToken.maximumBytes { return "a token of \(bytes.count) bytes is read" }
    if bytes.filter({ $0 == UInt8(ascii: ".") }).count != 2 { return "a token of other than three parts is read" }
    do throws(TokenFault) {
      try keys.verify(parsed, of: bytes.span, allowing: SignatureAlgorithm.asymmetric)
      // The two examples of the standards, which the corpus may have.
      return parsed.algorithm == "ES256" || parsed.algorithm == "EdDSA" ? nil : "a signature is found right"
    } catch {
      return nil
    }
  }

  private func keySet(_ bytes: [UInt8]) -> String? {
    do throws(TokenFault) {
      let set = try KeySet(parsing: bytes)
      if set.keys.isEmpty || set.keys.count > KeySet.maximumKeys { return "a set of \(set.keys.count) keys is read" }
    } catch {
      if error.kind != .malformed { return "a key set is refused as \(error.kind)" }
    }
    return nil
  }

  private func claims(_ bytes: [UInt8]) -> String? {
    let claims: JSONValue
    do {
      claims = try JSONValue(parsing: bytes)
    } catch {
      return nil
    }
    var rules = ClaimRules()
    rules.allowsEndless = true
    do throws(TokenFault) {
      let end = try rules.check(claims, at: 1e9)
      if end <= 1e9 { return "claims are accepted until \(end)" }
    } catch {}
    for member in claims.members ?? [] {
      guard let found = Claim.find(member.name, in: claims) else { return "a claim is not found by its name" }
      guard let value = Claim.fieldValue(found) else { continue }
      if value.isEmpty || value.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "no field can carry a claim" }
    }
    return nil
  }
}
