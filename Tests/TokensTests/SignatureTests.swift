import Bytes
import Configuration
import JSONValues
import RandomnessTestSupport
import Testing

@testable import Tokens

@Suite struct SignatureTests {
  let vectors: Vectors

  init() throws { vectors = try Vectors() }

  @Test(arguments: SignatureAlgorithm.allCases) func tokensOfOtherLibrariesAreAccepted(
    algorithm: SignatureAlgorithm
  ) throws {
    let claims = try Vectors.check(try vectors.token(algorithm), vectors.keys)
    #expect(claims["sub"]?.text == "u1")
  }

  /// RFC 7515 appendices A.1 and A.3, RFC 8037 appendix A.4.
  @Test(arguments: [
    (
      #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
      "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    ),
    (
      #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
      "eyJhbGciOiJFUzI1NiJ9",
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    ),
    (
      #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
      "eyJhbGciOiJFZERTQSJ9", "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    ),
  ]) func theExamplesOfTheStandardAreAccepted(key: String, header: String, payload: String, signature: String) throws {
    let keys = try KeySet(parsing: Array(#"{"keys":[\#(key)]}"#.utf8))
    let token = Array("\(header).\(payload).\(signature)".utf8)
    try keys.verify(try CompactToken(parsing: token.span), of: token.span, allowing: SignatureAlgorithm.allCases)
    let other = Array("\(header).\(payload).\(signature.replacing("N", with: "M").replacing("K", with: "L"))".utf8)
    #expect(other != token)
    #expect(
      Vectors.fault {
        try keys.verify(try CompactToken(parsing: other.span), of: other.span, allowing: SignatureAlgorithm.allCases)
      } != nil)
  }

  /// Whatever one byte is changed to, nothing of it is accepted: another spelling of the same bytes neither.
  @Test(arguments: SignatureAlgorithm.allCases) func noOtherTokenIs(algorithm: SignatureAlgorithm) throws {
    let token = try vectors.token(algorithm)
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ".utf8)
    var random = SeededGenerator(seed: 7)
    for index in token.indices {
      for _ in 0..<2 {
        var changed = token
        changed[index] = digits.randomElement(using: &random) ?? 0
        if changed == token { continue }
        #expect(Vectors.fault { _ = try Vectors.check(changed, vectors.keys) } != nil, "byte \(index)")
      }
    }
    for length in 0..<token.count {
      let cut = Array(token.prefix(length))
      #expect(Vectors.fault { _ = try Vectors.check(cut, vectors.keys) } != nil)
    }
    #expect(Vectors.fault { _ = try Vectors.check(token + Array("=".utf8), vectors.keys) } == .malformed)
  }

  @Test(arguments: SignatureAlgorithm.allCases) func anAlgorithmHasToBeAllowed(algorithm: SignatureAlgorithm) throws {
    let others = SignatureAlgorithm.allCases.filter { $0 != algorithm }
    let token = try vectors.token(algorithm)
    #expect(Vectors.fault { _ = try Vectors.check(token, vectors.keys, others) } == .algorithm)
  }

  /// RFC 8725 section 2.1.
  @Test func thePublicKeyIsNoSecret() throws {
    let token = Array(try #require(vectors.document["confused"]?.text).utf8)
    #expect(Vectors.fault { _ = try Vectors.check(token, vectors.keys) } == .algorithm)
    #expect(Vectors.fault { _ = try Vectors.check(token, try vectors.only("rsa")) } == .algorithm)
  }

  @Test(arguments: ["none", "None", "NONE", "", "RS257", "rs256"]) func unsignedTokensAreNot(algorithm: String) throws {
    for signature in ["", "AAAA"] {
      let token = Vectors.unsigned(#"{"alg":"\#(algorithm)"}"#, #"{"sub":"u1","exp":4102444800}"#, signature: signature)
      #expect(Vectors.fault { _ = try Vectors.check(token, vectors.keys) } == .algorithm)
    }
  }

  /// Signatures of zeros were once accepted by some libraries.
  @Test func zerosAreNoSignature() throws {
    for (algorithm, id, length) in [("ES256", "es256", 64), ("ES384", "es384", 96), ("ES512", "es512", 132)] {
      let zeros = String(repeating: "A", count: length / 3 * 4)
      let token = Vectors.unsigned(
        #"{"alg":"\#(algorithm)","kid":"\#(id)"}"#, "{}", signature: zeros + (length % 3 == 1 ? "AA" : ""))
      #expect(Vectors.fault { _ = try Vectors.check(token, vectors.keys) } == .signature)
    }
  }

  @Test func theKeyOfTheNameIsTaken() throws {
    let token = try vectors.token(.es256)
    #expect(Vectors.fault { _ = try Vectors.check(token, try vectors.only("rsa")) } == .unknownKey)
    let other = try vectors.only("es384") { members in members.removeAll { $0.name == "kid" } }
    #expect(Vectors.fault { _ = try Vectors.check(token, other) } == .algorithm)
    let nameless = try vectors.only("es256") { members in members.removeAll { $0.name == "kid" } }
    #expect(try Vectors.check(token, nameless)["sub"]?.text == "u1")
  }

  @Test func aKeyForOneAlgorithmIsForNoOther() throws {
    let keys = try vectors.only("rsa") { $0.append(.init("alg", "PS256")) }
    #expect(Vectors.fault { _ = try Vectors.check(try vectors.token(.rs256), keys) } == .algorithm)
    #expect(try Vectors.check(try vectors.token(.ps256), keys)["sub"]?.text == "u1")
  }
}
