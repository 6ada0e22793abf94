import Bytes
import JSONValues
import Testing

@testable import Tokens

@Suite struct ParsingTests {
  @Test(arguments: [
    "", ".", "..", "...", "a.b", "e30.e30.", "e30..AAAA", "eyJhbGciOjF9.e30.AAAA", "W10.e30.AAAA",
    "e30.e30.AAAA.AAAA.AAAA",
    "eyJhbGciOiJSUzI1NiJ9.e30.A", "eyJhbGciOiJSUzI1NiJ9.e30.AB", "eyJhbGciOiJSUzI1NiJ9.e30.AA==",
    "eyJhbGciOiJSUzI1NiJ9 .e30.AAAA", "eyJhbGciOiJSUzI1NiJ9.e30.AA+A",
  ]) func otherTextsAreNoToken(text: String) {
    #expect(Vectors.fault { _ = try CompactToken(parsing: Array(text.utf8).span) } == .malformed)
  }

  @Test(arguments: [
    #"{"alg":"RS256","crit":["b64"],"b64":false}"#, #"{"alg":"RS256","crit":[]}"#, #"{"alg":"RS256","kid":7}"#,
    #"{"alg":"RS256","alg":"none"}"#, #"{"alg":"RS256"}x"#,
  ]) func headersThatCannotBeUnderstoodAreRefused(header: String) {
    let token = Vectors.unsigned(header, "{}")
    #expect(Vectors.fault { _ = try CompactToken(parsing: token.span) } == .malformed)
  }

  @Test func whatIsTooLongIsRefused() {
    let long = Vectors.unsigned(#"{"alg":"RS256"}"#, String(repeating: "x", count: CompactToken.maximumBytes))
    #expect(Vectors.fault { _ = try CompactToken(parsing: long.span) } == .malformed)
    let header = Vectors.unsigned(#"{"alg":"RS256","x":"\#(String(repeating: "x", count: 5000))"}"#, "{}")
    #expect(Vectors.fault { _ = try CompactToken(parsing: header.span) } == .malformed)
  }

  // MARK: Key sets

  private func notes(_ key: String) throws -> [String] {
    let good = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
    let set = try KeySet(parsing: Array(#"{"keys":[\#(key),\#(good)]}"#.utf8))
    #expect(set.keys.count == 1)
    return set.notes
  }

  @Test(arguments: [
    "7", "{}", #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
    #"{"kty":"oct","k":"c2hvcnQ"}"#, #"{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
    #"{"kty":"OKP","crv":"Ed25519","x":"11qY"}"#, #"{"kty":"PQ"}"#,
    #"{"kty":"oct","use":"enc","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS"}"#,
    #"{"kty":"oct","key_ops":["sign"],"k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS"}"#,
    #"{"kty":"oct","alg":"RS256","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS"}"#,
    #"{"kty":"oct","alg":"HS999","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS"}"#,
    // A point that is not on the curve.
    #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
      + #""y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
  ]) func keysThatAreOfNoUseAreLeftOut(key: String) throws {
    let notes = try notes(key)
    #expect(notes.count == 1 && notes.first?.hasPrefix("key number 1 is not used: ") == true, "\(notes)")
  }

  @Test(arguments: ["", "[]", "{}", #"{"keys":7}"#, #"{"keys":[]}"#, #"{"keys":[{}]}"#]) func othersAreNoSet(
    text: String
  ) {
    #expect(Vectors.fault { _ = try KeySet(parsing: Array(text.utf8)) } == .malformed)
  }

  @Test func weakKeysOfTheRightFormAreLeftOut() throws {
    let modulus = String(repeating: "v", count: 170)
    let notes = try notes(#"{"kty":"RSA","n":"\#(modulus)9","e":"AQAB"}"#)
    #expect(notes.first?.contains("bits") == true || notes.first?.contains("base64url") == true, "\(notes)")
    let even = String(repeating: "v", count: 341) + "g"
    #expect(try self.notes(#"{"kty":"RSA","n":"\#(even)","e":"AQAB"}"#).count == 1)
  }
}
