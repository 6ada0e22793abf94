import Gateway

struct DemoEpisode: Sendable {
  var id: String
  var title: String
  var series: String
  var tags: [String]
  var views: Int
  var viewsToday: Int
  /// RFC 3339.
  var publishedAt: String
  var seconds: Int

  /// What a search looks through.
  var haystack: String { ([title, series] + tags).joined(separator: "\n").lowercased() }

  var json: JSONValue {
    [
      "id": .string(id), "title": .string(title), "series": .string(series),
      "tags": .array(tags.map { .string($0) }), "views": .integer(views), "publishedAt": .string(publishedAt),
      "length": .string("\(seconds)s"),
    ]
  }

  static let seed = [
    DemoEpisode(
      id: "e1", title: "The night train", series: "Lines", tags: ["railway", "night"], views: 91_204, viewsToday: 310,
      publishedAt: "2026-01-09T18:00:00Z", seconds: 1_440),
    DemoEpisode(
      id: "e2", title: "A turnout in the snow", series: "Lines", tags: ["railway", "winter"], views: 120_551,
      viewsToday: 190, publishedAt: "2026-01-16T18:00:00Z", seconds: 1_512),
    DemoEpisode(
      id: "e3", title: "Bread for a village", series: "Craft", tags: ["baking"], views: 40_870, viewsToday: 744,
      publishedAt: "2026-02-02T07:30:00Z", seconds: 905),
    DemoEpisode(
      id: "e4", title: "Clocks that agree", series: "Craft", tags: ["railway", "time"], views: 66_013, viewsToday: 402,
      publishedAt: "2026-02-09T07:30:00Z", seconds: 1_118),
    DemoEpisode(
      id: "e5", title: "Harbour at four", series: "Morning", tags: ["night", "sea"], views: 18_442, viewsToday: 98,
      publishedAt: "2026-03-01T04:00:00Z", seconds: 2_300),
  ]
}

struct DemoProfile: Sendable {
  var id: String
  var displayName = ""
  var bio = ""
  var favoriteTags: [String] = []

  /// Unset members are left out, as ProtoJSON does.
  var json: JSONValue {
    var members = [JSONValue.Member("id", .string(id))]
    if !displayName.isEmpty { members.append(.init("displayName", .string(displayName))) }
    if !bio.isEmpty { members.append(.init("bio", .string(bio))) }
    if !favoriteTags.isEmpty { members.append(.init("favoriteTags", .array(favoriteTags.map { .string($0) }))) }
    return .object(members)
  }
}

struct DemoComment: Sendable {
  var id: String
  var episode: String
  var author: String
  var text: String
  /// RFC 3339.
  var createdAt: String

  var json: JSONValue {
    var members = [JSONValue.Member("id", .string(id)), .init("episodeId", .string(episode))]
    if !author.isEmpty { members.append(.init("author", .string(author))) }
    members += [.init("text", .string(text)), .init("createdAt", .string(createdAt))]
    return .object(members)
  }
}
