import EventLoops
import Gateway
import HTTPModel
import Testing

@testable import turnout

@Suite struct LegacyBackendTests {
  let backend = LegacyBackend(store: DemoStore())

  private func ask(_ method: HTTPMethod, _ target: String, _ body: String = "") throws -> (Int, JSONValue) {
    let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
    let request = LocalRequest(
      method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "", authority: "",
      fields: body.isEmpty ? [] : [("content-type", "application/json")], body: Array(body.utf8),
      listener: try #require(SocketAddress(host: "127.0.0.1", port: 1)))
    let response = backend.respond(to: request)
    #expect(response.fields.contains { $0.name == "x-demo-backend" && $0.value == "rest" })
    return (response.status, try JSONValue(parsing: response.body))
  }

  @Test func readsAnswer() throws {
    let (status, tags) = try ask(.get, "/v1/tags:featured")
    #expect(status == 200)
    #expect(tags["tags"]?.elements?.first == ["name": "railway", "episodeCount": 3])
    let (_, episode) = try ask(.get, "/v1/episodes/e%32")
    #expect(episode["title"] == "A turnout in the snow")
    #expect(episode["views"]?.number == 120_551)
    let (_, ranking) = try ask(.get, "/v1/ranking/daily?limit=2")
    #expect(ranking["entries"]?.elements?.map { $0["episode"]?["id"]?.text } == ["e3", "e4"])
    let (_, weekly) = try ask(.get, "/v1/ranking/weekly")
    #expect(weekly["entries"]?.elements?.count == 3)
  }

  @Test func searchesInPages() throws {
    let (_, first) = try ask(.get, "/v1/episodes:search?query=RAIL%57ay&page_size=2")
    #expect(first["episodes"]?.elements?.map { $0["id"]?.text } == ["e1", "e2"])
    let token = try #require(first["nextPageToken"]?.text)
    let (_, second) = try ask(.get, "/v1/episodes:search?query=railway&pageSize=2&pageToken=\(token)")
    #expect(second["episodes"]?.elements?.map { $0["id"]?.text } == ["e4"])
    #expect(second["nextPageToken"] == nil)
    let (_, beyond) = try ask(.get, "/v1/episodes:search?pageToken=99999999999999999999&pageSize=-4")
    #expect(beyond["episodes"]?.elements?.count == 5)
    let (_, none) = try ask(.get, "/v1/episodes:search?pageToken=900")
    #expect(none["episodes"] == [])
  }

  @Test func patchChangesWhatTheBodyHoldsOrTheMaskNames() throws {
    let (_, first) = try ask(.patch, "/v1/profiles/ada", #"{"displayName":"Ada","bio":"x"}"#)
    #expect(first == ["id": "ada", "displayName": "Ada", "bio": "x"])
    let (_, second) = try ask(.patch, "/v1/profiles/ada", #"{"id":"other","bio":null}"#)
    #expect(second == ["id": "ada", "displayName": "Ada"])
    let (_, third) = try ask(.patch, "/v1/profiles/ada?updateMask=favoriteTags", #"{"bio":"n","favoriteTags":["sea"]}"#)
    #expect(third == ["id": "ada", "displayName": "Ada", "favoriteTags": ["sea"]])
    #expect(try ask(.patch, "/v1/profiles/ada", #"{"age":3}"#).0 == 400)
  }

  @Test func commentsAreKept() throws {
    let (status, made) = try ask(.post, "/v1/episodes/e1/comments", #"{"author":"Ada","text":"fine"}"#)
    #expect(status == 201)
    #expect(made["episodeId"] == "e1")
    let (_, list) = try ask(.get, "/v1/episodes/e1/comments")
    #expect(list["comments"] == [made])
    #expect(try ask(.get, "/v1/episodes/e2/comments").1["comments"] == [])
  }

  @Test(arguments: [
    ("GET", "/v1/episodes/none", "", 404), ("GET", "/v1/ranking/yearly", "", 400), ("GET", "/", "", 404),
    ("GET", "/v1/nothing/x", "", 404), ("DELETE", "/v1/episodes/e1", "", 405), ("PUT", "/v1/profiles/a", "{}", 405),
    ("POST", "/v1/episodes/e1/comments", "", 415), ("POST", "/v1/episodes/e1/comments", "{", 400),
    ("POST", "/v1/episodes/e1/comments", "{}", 400), ("POST", "/v1/episodes/none/comments", #"{"text":"a"}"#, 404),
    ("GET", "/v1/episodes/%zz", "", 400), ("GET", "/v1/episodes:search?query=%", "", 400),
    ("POST", "/v1/tags:featured", "{}", 404), ("GET", "/v1", "", 404), ("GET", "/v2/episodes/e1", "", 404),
  ])
  func refusals(method: String, target: String, body: String, status: Int) throws {
    let (got, answer) = try ask(HTTPMethod(method), target, body)
    #expect(got == status)
    #expect(answer["message"]?.text?.isEmpty == false)
  }
}
