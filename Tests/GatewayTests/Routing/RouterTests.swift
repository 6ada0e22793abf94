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
    case .ambiguous(let index, _): return "ambiguous \(snapshot.routes[index].method)"
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

  private static let more = """
    service OtherService {
      rpc Open(GetRequest) returns (Crate) {
        option (google.api.http) = {get: "/v1/open/{id}"};
      }
      rpc File(GetRequest) returns (Crate) {
        option (google.api.http) = {get: "/v1/files/{id=**}"};
      }
    }

    """

  private func withOthers(_ settings: [String] = []) throws -> Snapshot {
    let text = try Compiled(settings).text + "  depot.v1.OtherService: { rest: legacy }\nfallback: legacy\n"
    return try #require(try Compiled(text: text, proto: Depot.proto + Self.more).snapshot)
  }

  /// What a lenient backend would take for a path of another route, or for one that the route does not have.
  @Test(arguments: [
    "/v1/open/..", "/v1/open/.", "/v1/open/%2e%2E", "/v1/open/..;x", "/v1/open/..%2fcrates%2f7", "/v1/open/%252e%252e",
    "/v1/open/..%5ccrates", "/v1/files/../crates/7", "/v1/files/a/%2e/b", "/v1/files/a/..%252fb", "/v1/files/a/../b",
  ])
  func aDotSegmentInAPathOfARouteIsRefused(path: String) throws {
    #expect(try route("GET \(path)", withOthers()).hasPrefix("ambiguous"))
  }

  @Test(arguments: [
    "/v1/files/a..b/..c/v1.2/.x/...", "/v1/open/a%2Fb", "/v1/open/a;b", "/v1/open/a%3Ab", "/v1/open/100%25",
    "/v1/open/%",
    "/v1/files/a%20b/%C3%A9", "/v1/files/a%2Fb;c",
  ])
  func aPathThatMeansNothingElsePasses(path: String) throws {
    #expect(try route("GET \(path)", withOthers()).hasPrefix("rest"))
  }

  /// An escaped colon is data to the gateway, and a verb's for who decodes first.
  @Test func anEscapedColonDoesNotHideAVerb() throws {
    let sealing = Self.more.replacing("get: \"/v1/open/{id}\"", with: "post: \"/v1/crates/{id}\"")
    let text = try Compiled([]).text + "  depot.v1.OtherService: { rest: legacy }\n"
    let snapshot = try #require(try Compiled(text: text, proto: Depot.proto + sealing).snapshot)
    #expect(try route("POST /v1/crates/7", snapshot) == "rest Open 0")
    #expect(try route("POST /v1/crates/7:seal", snapshot) == "rest Seal 0")
    #expect(try route("POST /v1/crates/7%3Aseal", snapshot) == "ambiguous Open")
    #expect(try route("POST /v1/crates/7%3Aother", snapshot) == "rest Open 0")
  }

  /// No backend that normalises is asked.
  @Test func aRouteWithoutARESTSideTakesItsPathsAsTheyAre() throws {
    let text = try Compiled(["stage: rpc"]).text.replacing("    rest: legacy\n", with: "")
    let snapshot = try #require(try Compiled(text: text).snapshot)
    #expect(try route("GET /v1/crates/%2e%2e", snapshot) == "rest Get 0")
  }

  @Test(arguments: [
    ("api.example.com", "api.example.com", true), ("api.example.com", "api.example.com.", true),
    ("api.example.com", "api.example.com.:80", true), ("api.example.com", "api.example.com..", true),
    ("api.example.com", ".", false), ("api.example.com", "", false), ("api.example.com", "xapi.example.com", false),
    ("api.example.com", "example.com.", false), ("*.example.com", "a.example.com.", true),
    ("*.example.com", "a.b.example.com:1", true), ("*.example.com", "example.com.", false),
    ("*.example.com", ".example.com", false), ("*.example.com", "aexample.com", false),
    ("a.example:81", "a.example:81", true), ("a.example:81", "a.example.:81", true),
    ("a.example:81", "a.example", false),
    ("a.example:81", "a.example:8", false), ("*.a.example:81", "b.a.example.:81", true),
    ("*.a.example:81", "b.a.example:82", false), ("[::1]", "[::1]:80", true), ("[::1]:80", "[::1]", false),
  ])
  func hosts(pattern: String, authority: String, fits: Bool) {
    let bytes = Array(authority.utf8)
    let found = HostPattern(pattern).fits(bytes.span)
    #expect(found == fits)
  }
}
