import Bytes
import EventLoops
import Gateway
import RPC
import Synchronization

/// The data of the demo, shared by both backends, and what can be done with it.
///
/// Requests and answers are ProtoJSON as the legacy service writes it: int64 as numbers. In memory and bounded.
final class DemoStore: Sendable {
  struct Contents: Sendable {
    var episodes: [DemoEpisode]
    var profiles: [String: DemoProfile] = [:]
    var comments: [DemoComment] = []
    /// Comments made so far.
    var made = 0
  }

  static let maximumComments = 1_000
  static let maximumProfiles = 1_000

  private let contents = Mutex(Contents(episodes: DemoEpisode.seed))

  func answer(_ method: DemoMethod, _ request: JSONValue) -> Result<JSONValue, RPCError> {
    contents.withLock { contents in
      do throws(RPCError) {
        switch method {
        case .listFeaturedTags: return .success(contents.featuredTags)
        case .searchEpisodes: return .success(contents.search(request))
        case .getEpisode: return .success(try contents.episode(request["id"]?.text ?? "").json)
        case .getRanking: return .success(try contents.ranking(request))
        case .updateProfile: return .success(try contents.update(request))
        case .createComment: return .success(try contents.comment(request))
        case .listComments: return .success(try contents.comments(request))
        }
      } catch {
        return .failure(error)
      }
    }
  }
}

/// The methods of both services.
enum DemoMethod: String, Sendable, CaseIterable {
  case listFeaturedTags = "pivot.content.v1.ContentService/ListFeaturedTags"
  case searchEpisodes = "pivot.content.v1.ContentService/SearchEpisodes"
  case getEpisode = "pivot.content.v1.ContentService/GetEpisode"
  case getRanking = "pivot.content.v1.ContentService/GetRanking"
  case updateProfile = "pivot.content.v1.ContentService/UpdateProfile"
  case createComment = "pivot.content.v1.CommentService/CreateComment"
  case listComments = "pivot.content.v1.CommentService/ListComments"
}

extension DemoStore.Contents {
  func episode(_ id: String) throws(RPCError) -> DemoEpisode {
    guard let episode = episodes.first(where: { $0.id == id }) else {
      throw RPCError(.notFound, "there is no episode \"\(id)\"")
    }
    return episode
  }

  var featuredTags: JSONValue {
    let counts = Dictionary(episodes.flatMap(\.tags).map { ($0, 1) }, uniquingKeysWith: +)
    let tags = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3)
    return ["tags": .array(tags.map { ["name": .string($0.key), "episodeCount": .integer($0.value)] })]
  }

  func search(_ request: JSONValue) -> JSONValue {
    let query = (request["query"]?.text ?? "").lowercased()
    let found = episodes.filter { query.isEmpty || $0.haystack.contains(query) }
    let start = min(max(0, Int(request["pageToken"]?.text ?? "") ?? 0), found.count)
    let end = min(start + Self.count(request["pageSize"], standard: 10), found.count)
    var members = [JSONValue.Member("episodes", .array(found[start..<end].map(\.json)))]
    if end < found.count { members.append(.init("nextPageToken", .string("\(end)"))) }
    return .object(members)
  }

  func ranking(_ request: JSONValue) throws(RPCError) -> JSONValue {
    let type = request["type"]?.text ?? ""
    guard type == "daily" || type == "weekly" else {
      throw .badRequest(field: "type", "must be daily or weekly")
    }
    let sorted = episodes.sorted { type == "daily" ? $0.viewsToday > $1.viewsToday : $0.views > $1.views }
    let best = sorted.prefix(Self.count(request["limit"], standard: 3))
    let entries = best.enumerated().map { index, episode -> JSONValue in
      ["rank": .integer(index + 1), "episode": episode.json]
    }
    return ["type": .string(type), "entries": .array(entries)]
  }

  /// Changes what the mask names; without a mask, what the request holds.
  mutating func update(_ request: JSONValue) throws(RPCError) -> JSONValue {
    guard let given = request["profile"], let id = given["id"]?.text, !id.isEmpty, id.utf8.count <= 64 else {
      throw .badRequest(field: "profile.id", "must be 1 to 64 bytes long")
    }
    let mask = (request["updateMask"]?.text ?? "").split(separator: ",").map(String.init)
    let paths = mask.isEmpty ? (given.members ?? []).map(\.name) : mask
    var profile = profiles[id] ?? DemoProfile(id: id)
    for path in paths {
      switch path {
      case "id": break
      case "displayName": profile.displayName = given[path]?.text ?? ""
      case "bio": profile.bio = given[path]?.text ?? ""
      case "favoriteTags": profile.favoriteTags = (given[path]?.elements ?? []).compactMap(\.text)
      default: throw .badRequest(field: "updateMask", "names an unknown field \"\(path)\"")
      }
    }
    guard profiles[id] != nil || profiles.count < DemoStore.maximumProfiles else {
      throw RPCError(.resourceExhausted, "the demo holds \(DemoStore.maximumProfiles) profiles at most")
    }
    profiles[id] = profile
    return profile.json
  }

  mutating func comment(_ request: JSONValue) throws(RPCError) -> JSONValue {
    let episode = try episode(request["episodeId"]?.text ?? "")
    guard let text = request["comment"]?["text"]?.text, !text.isEmpty else {
      throw .badRequest(field: "comment.text", "must not be empty")
    }
    guard comments.count < DemoStore.maximumComments else {
      throw RPCError(.resourceExhausted, "the demo holds \(DemoStore.maximumComments) comments at most")
    }
    made += 1
    var time = ByteBuffer()
    WallClock.now().appendRFC3339(to: &time)
    let comment = DemoComment(
      id: "c\(made)", episode: episode.id, author: request["comment"]?["author"]?.text ?? "", text: text,
      createdAt: String(repairing: time.span))
    comments.append(comment)
    return comment.json
  }

  func comments(_ request: JSONValue) throws(RPCError) -> JSONValue {
    let episode = try episode(request["episodeId"]?.text ?? "")
    return ["comments": .array(comments.filter { $0.episode == episode.id }.map(\.json))]
  }

  /// A page's size: 1 to 50, the standard for anything else.
  private static func count(_ value: JSONValue?, standard: Int) -> Int {
    guard let number = value?.number, number >= 1 else { return standard }
    return Int(min(number, 50))
  }
}
