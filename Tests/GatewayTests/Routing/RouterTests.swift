import Bytes
import HTTP1
import HTTPModel
import RPC
import Testing

@testable import Gateway

@Suite struct RouterTests {
  /// What a request is for, in a word.
  private func route(_ text: String, _ snapshot: Snapshot, _ fields: String = "") throws -> String {
    let head = RequestHead()
    var parser = RequestHeadParser(limits: snapshot.headLimits)
    var input = ByteBuffer("\(text) HTTP/1.1\r\nhost: a.example\r\n\(fields)\r\n".utf8)
    let isWhole = try parser.parse(&input, into: head)
    try #require(isWhole)
    switch Router().route(head, in: snapshot) {
    case .procedure(let index, let request): return "procedure \(snapshot.routes[index].method) \(request)"
    case .rest(let index, let binding): return "rest \(snapshot.routes[index].method) \(binding)"
    case .fallback: return "fallback"
    case .preflight(let index, let binding): return "preflight \(snapshot.routes[index].method) \(binding ?? -1)"
    case .refused(let error): return "\(error.httpStatus ?? 0)"
    }
  }

  private static let json = "content-type: application/json\r\n"

  @Test func findsFacesInThisOrder() throws {
    let snapshot = try #require(try Compiled([]).snapshot)
    #expect(try route("GET /v1/crates/7", snapshot) == "rest Get 0")
    #expect(try route("HEAD /v1/crates/7", snapshot) == "rest Get 0")
    #expect(try route("POST /v1/crates/7:seal", snapshot) == "rest Seal 0")
    #expect(try route("POST /depot.v1.CrateService/Get", snapshot, Self.json).hasPrefix("procedure Get connectUnary"))
    #expect(try route("GET /depot.v1.CrateService/Create", snapshot) == "procedure Create methodNotAllowed")
    // An escape that says nothing new is the same path.
    #expect(try route("GET /v1/%63rates/7", snapshot) == "rest Get 0")
    #expect(try route("DELETE /v1/crates/7", snapshot) == "405")
    #expect(try route("GET /v1/crates/", snapshot) == "404")
    #expect(try route("GET /elsewhere", snapshot) == "404")
  }

  /// Browsers ask by OPTIONS what they may do by another method; only routes that answer such questions are found.
  @Test func findsTheFaceThatAPreflightIsAbout() throws {
    let origin = "origin: https://a.example\r\n"
    func asks(_ target: String, _ method: String, _ snapshot: Snapshot) throws -> String {
      try route("OPTIONS \(target)", snapshot, "\(origin)access-control-request-method: \(method)\r\n")
    }
    let cors = ["interceptors: [ cors: { origins: [ \"*\" ] } ]"]
    let answering = try #require(try Compiled(cors).snapshot)
    #expect(try asks("/v1/crates/7", "GET", answering) == "preflight Get 0")
    #expect(try asks("/v1/crates", "POST", answering) == "preflight Create 0")
    #expect(try asks("/depot.v1.CrateService/Get", "POST", answering) == "preflight Get -1")
    #expect(try asks("/v1/crates", "DELETE", answering) == "405")
    #expect(try asks("/v1/crates", "a b", answering) == "405")
    #expect(try asks("/elsewhere", "GET", answering) == "404")
    #expect(try route("OPTIONS /v1/crates", answering, origin) == "405")
    #expect(try route("GET /v1/crates/7", answering, "\(origin)access-control-request-method: GET\r\n") == "rest Get 0")
    let silent = try #require(try Compiled([]).snapshot)
    #expect(try asks("/v1/crates/7", "GET", silent) == "405")
  }

  /// A lenient backend would take these for a described path, past what guards it.
  @Test(arguments: [
    "/v1//crates/7", "//v1/crates/7", "/v1/./crates/7", "/v1/x/../crates/7", "/v1%2Fcrates/7", "/v1/crates/7/",
    "/v1/crates/a%2Fb/", "/v1//crates/a%2Fb", "/depot.v1.CrateService//Get", "/depot.v1.CrateService/%47et",
    "/x/../depot.v1.CrateService/Get",
  ])
  func variantsOfARouteNeverReachTheFallback(path: String) throws {
    let text = try Compiled([]).text + "fallback: legacy\n"
    let snapshot = try #require(try Compiled(text: text).snapshot)
    #expect(try route("GET \(path)", snapshot) == "404")
    #expect(try route("POST \(path)", snapshot, Self.json) == "404")
  }

  /// The service of its host has the path, and takes no slash more: not one behind it that does.
  @Test func theMostSpecificRouteDecidesAboutASlashMore() throws {
    let other = """
      service OtherService {
        rpc Get(GetRequest) returns (Crate) {
          option (google.api.http) = {get: "/v1/crates/{id}"};
        }
      }

      """
    let everywhere = "  depot.v1.OtherService: { rest: legacy, trailing_slash: accept }\n"
    for (own, expected) in [("reject", "404"), ("accept", "rest Get 0")] {
      let text = try Compiled(["hosts: [a.example]", "trailing_slash: \(own)"]).text + everywhere
      let snapshot = try #require(try Compiled(text: text, proto: Depot.proto + other).snapshot)
      #expect(try route("GET /v1/crates/7/", snapshot) == expected)
      #expect(try route("GET /v1/crates/7", snapshot) == "rest Get 0")
    }
  }

  @Test(arguments: ["/", "/other", "/v1", "/v1/crate/7", "/v2/crates/7", "/V1/crates/7"])
  func theRestReachesTheFallback(path: String) throws {
    let text = try Compiled([]).text + "fallback: legacy\n"
    let snapshot = try #require(try Compiled(text: text).snapshot)
    #expect(try route("GET \(path)", snapshot) == "fallback")
  }
}
