import Bytes
import Gateway
import HTTPModel
import RPC

/// The demo's old side: a REST service that speaks JSON and knows nothing of RPC.
struct LegacyBackend: Sendable {
  let store: DemoStore

  func respond(to request: LocalRequest) -> LocalResponse {
    var response: LocalResponse
    do throws(RPCError) {
      let (method, message) = try call(request)
      switch store.answer(method, message) {
      case .success(let answer): response = .json(answer, status: method == .createComment ? 201 : 200)
      case .failure(let error): throw error
      }
    } catch {
      response = .json(["message": .string(error.message)], status: error.httpStatus ?? error.code.httpStatus)
      response.fields += error.headers
    }
    response.fields.append(("x-demo-backend", "rest"))
    return response
  }

  /// What a request means: the routes of the service.
  private func call(_ request: LocalRequest) throws(RPCError) -> (DemoMethod, JSONValue) {
    let path = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let query = try Self.parameters(request.query)
    switch (request.method, path) {
    case (.get, ["v1", "tags:featured"]), (.head, ["v1", "tags:featured"]): return (.listFeaturedTags, [:])
    case (.get, ["v1", "episodes:search"]), (.head, ["v1", "episodes:search"]):
      return (.searchEpisodes, Self.message(query, texts: ["query", "pageToken"], numbers: ["pageSize"]))
    case (let method, let path) where path.count == 3 && path[0] == "v1":
      return try single(method, path[1], try Self.decoded(path[2]), query, request)
    case (let method, let path) where path.count == 4 && path[1] == "episodes" && path[3] == "comments":
      return try comments(method, try Self.decoded(path[2]), request)
    default: throw Self.notFound
    }
  }

  private func single(
    _ method: HTTPMethod, _ collection: String, _ id: String, _ query: [JSONValue.Member], _ request: LocalRequest
  ) throws(RPCError) -> (DemoMethod, JSONValue) {
    switch (method, collection) {
    case (.get, "episodes"), (.head, "episodes"): return (.getEpisode, ["id": .string(id)])
    case (.get, "ranking"), (.head, "ranking"):
      let limit = Self.message(query, texts: [], numbers: ["limit"]).members ?? []
      return (.getRanking, .object([.init("type", .string(id))] + limit))
    case (.patch, "profiles"):
      let given = try Self.body(request).filter { $0.name != "id" }
      let mask = query.first { $0.name == "updateMask" }?.value.text
      let profile = JSONValue.object([.init("id", .string(id))] + given)
      return (.updateProfile, ["profile": profile, "updateMask": .string(mask ?? "")])
    case (_, "episodes"), (_, "ranking"), (_, "profiles"): throw Self.methodNotAllowed
    default: throw Self.notFound
    }
  }

  private func comments(
    _ method: HTTPMethod, _ episode: String, _ request: LocalRequest
  ) throws(RPCError) -> (DemoMethod, JSONValue) {
    switch method {
    case .get, .head: return (.listComments, ["episodeId": .string(episode)])
    case .post:
      return (.createComment, ["episodeId": .string(episode), "comment": .object(try Self.body(request))])
    default: throw Self.methodNotAllowed
    }
  }

  private static let notFound = RPCError(.notFound, "no such resource")
  private static let methodNotAllowed = RPCError(.unimplemented, "method not allowed", httpStatus: 405)

  private static func body(_ request: LocalRequest) throws(RPCError) -> [JSONValue.Member] {
    guard request.hasContentType("application/json") else {
      throw RPCError(.invalidArgument, "the body must be application/json", httpStatus: 415)
    }
    do {
      guard let members = try JSONValue(parsing: request.body).members else {
        throw RPCError(.invalidArgument, "the body must be a JSON object")
      }
      return members
    } catch let fault as JSONFault {
      throw RPCError(.invalidArgument, fault.message)
    } catch {
      throw RPCError(.invalidArgument, "the body must be a JSON object")
    }
  }

  /// The parameters of a query; names in lowerCamelCase, also those that came with underscores.
  private static func parameters(_ query: String) throws(RPCError) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = try decoded(String(parts[0]), as: .query)
      let words = name.split(separator: "_")
      let camel =
        words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      members.append(.init(camel, .string(parts.count > 1 ? try decoded(String(parts[1]), as: .query) : "")))
    }
    return members
  }

  /// Those of the parameters that a call has, others are ignored.
  private static func message(_ query: [JSONValue.Member], texts: [String], numbers: [String]) -> JSONValue {
    .object(
      query.compactMap { member in
        if texts.contains(member.name) { return member }
        guard numbers.contains(member.name), let number = Int(member.value.text ?? "") else { return nil }
        return .init(member.name, .integer(number))
      })
  }

  private static func decoded(
    _ text: String, as decoding: PercentCoding.Decoding = .segment
  ) throws(RPCError) -> String {
    var output = ByteBuffer()
    guard PercentCoding.decode(Array(text.utf8).span, as: decoding, into: &output) == nil else {
      throw RPCError(.invalidArgument, "a malformed percent escape")
    }
    return String(repairing: output.span)
  }
}
