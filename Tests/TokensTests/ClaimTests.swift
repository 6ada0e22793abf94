import JSONValues
import Testing

@testable import Tokens

@Suite struct ClaimTests {
  private func fault(_ claims: String, at now: Double = 1000, _ change: (inout ClaimRules) -> Void = { _ in })
    -> TokenFault.Kind?
  {
    var rules = ClaimRules()
    rules.leeway = 10
    change(&rules)
    return Vectors.fault { _ = try rules.check(try JSONValue(parsing: Array(claims.utf8)), at: now) }
  }

  @Test(
    arguments: [
      (#"{"exp":1000}"#, 1009.9, nil), (#"{"exp":1000}"#, 1010, .expired), (#"{"exp":1000.5}"#, 1010.4, nil),
      (#"{}"#, 0, .expired), (#"{"exp":"1000"}"#, 0, .malformed), (#"{"exp":null}"#, 0, .malformed),
      (#"{"exp":1e999}"#, 0, .malformed), (#"{"exp":-5}"#, 1000, .expired),
      (#"{"exp":2000,"nbf":1000}"#, 990, nil), (#"{"exp":2000,"nbf":1000}"#, 989.9, .notYetValid),
      (#"{"exp":2000,"iat":1000}"#, 990, nil), (#"{"exp":2000,"iat":1000}"#, 989.9, .notYetValid),
      (#"{"exp":2000,"nbf":true}"#, 1000, .malformed),
    ] as [(String, Double, TokenFault.Kind?)]) func timesCount(claims: String, now: Double, kind: TokenFault.Kind?)
  {
    #expect(fault(claims, at: now) == kind)
  }

  @Test func aTokenMayBeEndlessWhereThatIsAllowed() {
    #expect(fault("{}") { $0.allowsEndless = true } == nil)
    #expect(fault(#"{"exp":1}"#) { $0.allowsEndless = true } == .expired)
  }

  @Test(
    arguments: [
      (#""iss":"a""#, nil), (#""iss":"b""#, .issuer), (#""iss":["a"]"#, .issuer), (#""sub":"a""#, .issuer),
    ] as [(String, TokenFault.Kind?)]) func theIssuerHasToBeTheOne(claim: String, kind: TokenFault.Kind?)
  {
    #expect(fault(#"{"exp":2000,\#(claim)}"#) { $0.issuer = "a" } == kind)
  }

  @Test(
    arguments: [
      (#""aud":"a""#, nil), (#""aud":["x","b"]"#, nil), (#""aud":"x""#, .audience), (#""aud":[]"#, .audience),
      (#""aud":7"#, .audience), (#""sub":"a""#, .audience), (#""aud":[["a"]]"#, .audience),
    ] as [(String, TokenFault.Kind?)]) func oneAudienceHasToBeOurs(claim: String, kind: TokenFault.Kind?)
  {
    #expect(fault(#"{"exp":2000,\#(claim)}"#) { $0.audiences = ["a", "b"] } == kind)
  }

  @Test(
    arguments: [
      (#""scope":"read""#, nil), (#""scope":["x","write"]"#, nil), (#""scope":"readwrite""#, .claim),
      (#""x":1"#, .claim),
      (#""scope":null"#, .claim), (#""scope":{"read":1}"#, .claim),
    ] as [(String, TokenFault.Kind?)]) func requiredClaimsHaveToBeThere(claim: String, kind: TokenFault.Kind?)
  {
    #expect(fault(#"{"exp":2000,\#(claim)}"#) { $0.required = [("scope", .oneOf(["read", "write"]))] } == kind)
  }

  @Test func anyValueWillDoWhereItOnlyHasToBeThere() {
    #expect(fault(#"{"exp":2000,"a":{"b":0}}"#) { $0.required = [("a.b", .present)] } == nil)
    #expect(fault(#"{"exp":2000,"a":{"b":null}}"#) { $0.required = [("a.b", .present)] } == .claim)
    #expect(fault(#"{"exp":2000,"a":7}"#) { $0.required = [("a.b", .present)] } == .claim)
  }

  @Test(
    arguments: [
      ("sub", "u1"), ("n", "7.50"), ("yes", "true"), ("roles", "a,b"), ("realm.roles", "c"), ("a.b", "whole"),
      ("a.b.c", "inner"), ("object", #"{"x":1}"#), ("nested", #"[["a"]]"#), ("nothing", nil), ("absent", nil),
      ("line", nil), ("blank", nil), ("empty", nil), ("realm.absent", nil), (".", nil), ("", nil),
    ] as [(String, String?)]) func claimsBecomeFields(name: String, text: String?) throws
  {
    let claims = try JSONValue(
      parsing: Array(
        #"{"sub":"u1","n":7.50,"yes":true,"roles":["a","b"],"realm":{"roles":["c"]},"a.b":"whole","#.utf8)
        + Array(#""a":{"b":"not this","b.c":"inner"},"object":{"x":1},"nested":[["a"]],"nothing":null,"#.utf8)
        + Array(#""line":"a\r\nx-admin: 1","blank":" a","empty":""}"#.utf8))
    let value = Claim.find(name, in: claims).flatMap { Claim.fieldValue($0) }
    #expect(value.map { String(decoding: $0, as: UTF8.self) } == text)
  }
}
