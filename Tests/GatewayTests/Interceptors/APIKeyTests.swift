import Bytes
import HTTPModel
import Testing

@testable import Gateway

@Suite struct APIKeyTests {
  private static let byHeader = ["interceptors: [ api_key: { keys: [ first-key, second-key ] } ]"]
  private static let byQuery = ["interceptors: [ api_key: { keys: [ first-key ], query: key, header: x-api-key } ]"]

  @Test(arguments: Way.allCases)
  func aKeyOpensAndStaysHere(_ way: Way) throws {
    let backend = try ScriptedUpstream()
    let gateway = try way.gateway(backend, Self.byHeader)
    for key in ["first-key", "second-key"] {
      let (asked, answer) = try gateway.exchange("GET", "/v1/crates/7", ["X-API-Key: \(key)"], at: backend)
      #expect(answer.status == 200)
      #expect(!asked.fields.contains { $0.name == "x-api-key" || $0.value.contains("key") })
    }
  }

  private static let wrong = [
    [], ["x-api-key:"], ["x-api-key: first"], ["x-api-key: first-key2"], ["x-api-key: wrong", "x-api-key: first-key"],
  ]

  @Test(arguments: wrong)
  func noneAndAWrongOneAreRefused(fields: [String]) throws {
    let backend = try ScriptedUpstream()
    let gateway = try Way.translated.gateway(backend, Self.byHeader)
    let rest = try gateway.client().ask("GET", "/v1/crates/7", fields)
    #expect((rest.status, rest.text.hasPrefix(#"{"code":16,"#)) == (401, true))
    let rpc = try gateway.client().ask("POST", "/depot.v1.CrateService/Get", fields, body: "{}")
    #expect((rpc.status, rpc.text.hasPrefix(#"{"code":"unauthenticated""#)) == (401, true))
    // Who has no key does not learn what exists.
    let nowhere = try gateway.client().ask("GET", "/nowhere", fields)
    #expect(nowhere.status == 401)
    for answer in [rest, rpc, nowhere] { #expect(answer["www-authenticate"] == #"ApiKey realm="api""#) }
    #expect(!backend.isAsked())
  }

  @Test(arguments: Way.allCases)
  func aKeyInTheQueryIsTakenOut(_ way: Way) throws {
    let backend = try ScriptedUpstream()
    let gateway = try way.gateway(backend, Self.byQuery)
    let (asked, answer) = try gateway.exchange("GET", "/v1/crates/7?k%65y=first%2Dkey", at: backend)
    #expect(answer.status == 200)
    #expect(asked.startLine.hasPrefix(way == .passedOn ? "GET /v1/crates/7 " : "POST /depot.v1.CrateService/Get "))
    // A header that is there decides.
    let refused = try gateway.client().ask("GET", "/v1/crates/7?key=first-key", ["x-api-key: no"])
    #expect(refused.status == 401)
  }

  @Test(
    arguments: [
      ("/a?key=v", "/a", "v"), ("/a?x=1&key=v&y=2", "/a?x=1&y=2", "v"), ("/a?key=v&key=w&z", "/a?z", "v"),
      ("/a?key=", "/a", ""), ("/a?key", "/a", ""), ("/a?x=key&keys=1", "/a?x=key&keys=1", nil), ("/a", "/a", nil),
      ("/a?", "/a?", nil), ("/a?%6b%65%79=a+b%26", "/a", "a b&"), ("/a?key=%zz&b", "/a?b", nil),
      ("/a?&&key=v&&", "/a?&&", "v"),
    ] as [(String, String, String?)])
  func aParameterIsTakenOut(target: String, left: String, value: String?) {
    let head = RequestHead()
    head.target.append(text: target)
    head.pathEnd = target.utf8.prefix { $0 != UInt8(ascii: "?") }.count
    #expect(QueryParameter.take(Array("key".utf8), from: head) == value.map { Array($0.utf8) })
    #expect(head.targetText == left)
  }
}
