import Bytes
import Diagnostics
import EventLoops
import Gateway
import HTTPModel
import ProtoJSON
import ProtobufSchema
import Testing

@testable import turnout

@Suite struct ConnectBackendTests {
  private let schema: Schema
  private let connect: ConnectBackend
  private let legacy: LegacyBackend
  private let listener: SocketAddress
  private let content = "/pivot.content.v1.ContentService/"

  init() throws {
    let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/config/demo"
    let place = SourcePosition(file: "demo", line: 1, column: 1)
    let (schema, diagnostics) = SchemaLoader.load([
      .protos(files: ["content.proto", "comment.proto"], importPaths: [folder], position: place)
    ])
    self.schema = try #require(schema, "\(diagnostics)")
    listener = try #require(SocketAddress(host: "127.0.0.1", port: 1))
    let store = DemoStore()
    connect = ConnectBackend(store: store, schema: self.schema)
    legacy = LegacyBackend(store: store)
  }

  private func post(
    _ path: String, _ body: [UInt8], _ fields: [(name: String, value: String)] = [("content-type", "application/json")]
  ) -> LocalResponse {
    connect.respond(
      to: LocalRequest(method: .post, path: path, authority: "", fields: fields, body: body, listener: listener))
  }

  private func get(_ path: String, _ query: String) -> LocalResponse {
    connect.respond(
      to: LocalRequest(method: .get, path: path, query: query, authority: "", body: [], listener: listener))
  }

  private func value(_ response: LocalResponse) throws -> JSONValue { try JSONValue(parsing: response.body) }

  private func wire(_ json: [UInt8], _ type: String) throws -> [UInt8] {
    let codec = JSONCodec(schema: schema, profile: .standard)
    var outcome = DecodingOutcome()
    var output = ByteBuffer()
    let index = try #require(schema.messageIndex(named: type))
    try codec.decode(json.span, message: index, outcome: &outcome, into: &output)
    return output.bytes
  }

  @Test func itsBugsAreThereUntilTheyAreMended() throws {
    let faulty = ConnectBackend(store: DemoStore(), schema: schema, bugs: DemoBugs(isThere: true))
    func ask(_ path: String, _ body: String = "{}") -> LocalResponse {
      faulty.respond(
        to: LocalRequest(
          method: .post, path: path, authority: "", fields: [("content-type", "application/json")],
          body: Array(body.utf8), listener: listener))
    }
    #expect(try value(ask(content + "GetEpisode", #"{"id":"e2"}"#))["views"] == .string("55015"))
    #expect(ask(content + "SearchEpisodes").status == 500)
    #expect(ask(content + "ListFeaturedTags").status == 200)
    #expect(ask(DemoBugs.path).status == 200)
    #expect(try value(ask(content + "GetEpisode", #"{"id":"e2"}"#))["views"] == .string("120551"))
    #expect(ask(content + "SearchEpisodes").status == 200)
  }

  @Test func everyMethodOfTheSchemaIsKnown() {
    let names = schema.services.filter { $0.fullName.hasPrefix("pivot.") }.flatMap { service in
      service.methods.map { "\(service.fullName)/\($0.name)" }
    }
    #expect(Set(names) == Set(DemoMethod.allCases.map(\.rawValue)))
  }

  @Test func answersJSON() throws {
    let response = post(content + "GetEpisode", Array(#"{"id":"e2"}"#.utf8))
    #expect(response.status == 200)
    #expect(response.fields.contains { $0.name == "content-type" && $0.value == "application/json" })
    #expect(response.fields.contains { $0.name == "x-demo-backend" && $0.value == "connect" })
    let episode = try value(response)
    #expect(episode["views"] == "120551")
    #expect(episode["length"] == "1512s")
  }

  @Test func answersProto() throws {
    let response = post(content + "GetEpisode", [0x0A, 2, 0x65, 0x32], [("content-type", "application/proto")])
    #expect(response.status == 200)
    #expect(response.fields.contains { $0.name == "content-type" && $0.value == "application/proto" })
    let asJSON = post(content + "GetEpisode", Array(#"{"id":"e2"}"#.utf8))
    #expect(try response.body == wire(asJSON.body, "pivot.content.v1.Episode"))
    let empty = post(
      content + "ListFeaturedTags", [], [("content-type", "application/proto"), ("content-encoding", "gzip")])
    #expect(empty.status == 200)
    #expect(!empty.body.isEmpty)
  }

  @Test func answersGet() throws {
    let response = get(content + "GetEpisode", "connect=v1&encoding=json&message=%7B%22id%22%3A%22e1%22%7D")
    #expect(try value(response)["title"] == "The night train")
    let proto = get(content + "GetEpisode", "connect=v1&base64=1&encoding=proto&message=CgJlMQ")
    #expect(try proto.body == wire(response.body, "pivot.content.v1.Episode"))
    let unsafe = get(content + "UpdateProfile", "connect=v1&encoding=json&message=%7B%7D")
    #expect(unsafe.status == 405)
    #expect(unsafe.fields.contains { $0.name == "allow" && $0.value == "POST" })
  }

  @Test(arguments: [
    ("GetEpisode", #"{"id":"none"}"#, 404, "not_found"), ("GetEpisode", #"{"id":4}"#, 400, "invalid_argument"),
    ("GetEpisode", #"{"idd":"e1"}"#, 400, "invalid_argument"), ("GetEpisode", "", 400, "invalid_argument"),
    ("GetRanking", #"{"type":"yearly"}"#, 400, "invalid_argument"),
    ("UpdateProfile", #"{"profile":{"id":"a"},"updateMask":"id,nothing"}"#, 400, "invalid_argument"),
  ])
  func errorsAreConnects(method: String, body: String, status: Int, code: String) throws {
    let response = post(content + method, Array(body.utf8))
    #expect(response.status == status)
    #expect(try value(response)["code"]?.text == code)
    #expect(response.fields.contains { $0.name == "x-demo-backend" && $0.value == "connect" })
  }

  @Test func whatItCannotReadIsRefused() throws {
    #expect(post(content + "GetEpisode", [], [("content-type", "text/plain")]).status == 415)
    #expect(post(content + "GetEpisode", [], []).status == 415)
    #expect(post(content + "Nothing", []).status == 404)
    let coded = post(
      content + "GetEpisode", Array("{}".utf8), [("content-type", "application/json"), ("content-encoding", "br")])
    #expect(coded.status == 501)
    #expect(post(content + "GetEpisode", [0xFF], [("content-type", "application/proto")]).status >= 400)
  }

  /// The same call at both backends means the same message.
  @Test(arguments: [
    ("/v1/tags:featured", "", "ContentService/ListFeaturedTags", "{}", "ListFeaturedTagsResponse"),
    (
      "/v1/episodes:search", "query=night&page_size=1", "ContentService/SearchEpisodes",
      #"{"query":"night","pageSize":1}"#, "SearchEpisodesResponse"
    ),
    ("/v1/episodes/e3", "", "ContentService/GetEpisode", #"{"id":"e3"}"#, "Episode"),
    ("/v1/ranking/weekly", "limit=4", "ContentService/GetRanking", #"{"type":"weekly","limit":4}"#, "Ranking"),
    ("/v1/episodes/e3/comments", "", "CommentService/ListComments", #"{"episodeId":"e3"}"#, "ListCommentsResponse"),
  ])
  func bothBackendsAnswerTheSame(path: String, query: String, method: String, body: String, type: String) throws {
    _ = post(
      "/pivot.content.v1.CommentService/CreateComment", Array(#"{"episodeId":"e3","comment":{"text":"a"}}"#.utf8))
    let old = legacy.respond(
      to: LocalRequest(method: .get, path: path, query: query, authority: "", listener: listener))
    let new = post("/pivot.content.v1." + method, Array(body.utf8))
    #expect(old.status == 200)
    #expect(new.status == 200)
    let oldWire = try wire(old.body, "pivot.content.v1." + type)
    #expect(try oldWire == wire(new.body, "pivot.content.v1." + type))
    #expect(!oldWire.isEmpty)
  }

  @Test func masksChangeOnlyWhatTheyName() throws {
    let first = #"{"profile":{"id":"bo","displayName":"Bo","bio":"b"}}"#
    #expect(try value(post(content + "UpdateProfile", Array(first.utf8)))["bio"] == "b")
    let second = #"{"profile":{"id":"bo","displayName":"ignored"},"updateMask":"bio"}"#
    let answer = try value(post(content + "UpdateProfile", Array(second.utf8)))
    #expect(answer == ["id": "bo", "displayName": "Bo"])
  }
}
