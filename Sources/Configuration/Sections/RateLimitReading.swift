import Diagnostics

extension RootReader {
  /// Each is locked while the next one is asked.
  private static let mostLimits = 8
  private static let mostKeyParts = 8

  func rateLimit(_ node: Node) -> RateLimitConfiguration? {
    guard let map = MappingReader(node, Sections.rateLimit, context) else { return nil }
    var result: RateLimitConfiguration?
    if let list = map[.limits] {
      for key in RateLimitKey.ofLimit where map[key] != nil {
        context.error(
          map.keyPosition(key), "`\(key.rawValue)` stands beside `limits`", cure: "write it in one of the limits")
      }
      result = limits(list).map { RateLimitConfiguration(limits: $0) }
    } else {
      result = limit(map, Sections.rateLimit).map { RateLimitConfiguration(limits: [$0]) }
    }
    var (dryRun, fields) = (false, RateLimitConfiguration.Fields.refusals)
    context.read(map[.dryRun], into: &dryRun) { context.boolean($0) }
    context.read(map[.fields], into: &fields) { context.word($0, "a choice of fields") }
    result?.dryRun = dryRun
    result?.fields = fields
    let shared = sharedStore(map)
    result?.shared = shared
    return result
  }

  private func limits(_ node: Node) -> [RateLimitConfiguration.Limit]? {
    guard let nodes = context.list(node, "limits") else { return nil }
    guard (1...Self.mostLimits).contains(nodes.count) else {
      context.error(
        node.position, nodes.isEmpty ? "no limit is given" : "more than \(Self.mostLimits) limits in one place",
        cure: "write `limits: [ { requests: 100, per: 1s } ]`")
      return nil
    }
    var result: [RateLimitConfiguration.Limit] = []
    for node in nodes {
      guard let map = MappingReader(node, Sections.furtherLimit, context),
        let limit = limit(map, Sections.furtherLimit)
      else { return nil }
      result.append(limit)
    }
    return result
  }

  private func limit(
    _ map: MappingReader<RateLimitKey>, _ section: Section<RateLimitKey>
  ) -> RateLimitConfiguration.Limit? {
    let requests = map.required(.requests, section, context, cure: "write `requests: 100`")
      .flatMap { context.integer($0, 1...1_000_000_000) }
    let per = map.required(.per, section, context, cure: "write `per: 1s`").flatMap { context.duration($0) }
    var result = RateLimitConfiguration.Limit(requests: requests ?? 1, per: per ?? .seconds(1))
    context.read(map[.burst], into: &result.burst) { context.integer($0, 1...1_000_000_000) }
    context.read(map[.key], into: &result.key) { limitKey($0) }
    context.read(map[.maxKeys], into: &result.maximumKeys) { context.integer($0, 1...10_000_000) }
    return requests == nil || per == nil ? nil : result
  }

  func concurrency(_ node: Node) -> ConcurrencyConfiguration? {
    guard let map = MappingReader(node, Sections.concurrency, context) else { return nil }
    let requests = map.required(.requests, Sections.concurrency, context, cure: "write `requests: 100`")
      .flatMap { context.integer($0, 1...1_000_000) }
    var result = requests.map { ConcurrencyConfiguration(requests: $0) }
    if let node = map[.key], let key = limitKey(node) { result?.key = key }
    return result
  }

  // MARK: Keys

  private enum KeyWord: String, CaseIterable {
    case client, route, none
    case apiKey = "api_key"
  }

  /// `client`, or a list of what counts together.
  private func limitKey(_ node: Node) -> LimitKey? {
    guard case .sequence(let elements) = node.content else {
      guard let part = keyPart(node, inList: false) else { return nil }
      return LimitKey(parts: part.map { [$0] } ?? [])
    }
    guard (1...Self.mostKeyParts).contains(elements.count) else {
      context.error(
        node.position, elements.isEmpty ? "no part of a key is given" : "a key of more than \(Self.mostKeyParts) parts",
        cure: "write `key: [client, route]`, or `key: none`")
      return nil
    }
    var parts: [LimitKey.Part] = []
    for element in elements {
      guard case .some(.some(let part)) = keyPart(element, inList: true) else { return nil }
      if parts.contains(part) {
        context.error(element.position, "`\(part.text)` stands in the key twice", cure: "leave one out")
        return nil
      }
      parts.append(part)
    }
    return LimitKey(parts: parts)
  }

  /// Nil: a fault was reported; a nil inside: `none`.
  private func keyPart(_ node: Node, inList: Bool) -> LimitKey.Part?? {
    guard let text = context.name(node, "what has a limit of its own") else { return nil }
    switch KeyWord(rawValue: text.value) {
    case .client: return .some(.client)
    case .route: return .some(.route)
    case .apiKey: return .some(.apiKey)
    case .some(.none) where !inList: return .some(nil)
    case .some(.none):
      context.error(node.position, "`none` is no part of a key", cure: "leave it out, or write `key: none`")
      return nil
    case nil: break
    }
    if let name = text.value.dropping(prefix: "header:"), HeaderName.isToken(name) {
      return .some(.header(name.lowercased()))
    }
    if let name = text.value.dropping(prefix: "claim:"), !name.isEmpty { return .some(.claim(name)) }
    let near = text.isSecret ? nil : context.nearest(text.value, in: KeyWord.allCases.map(\.rawValue))
    context.error(
      node.position, "\(text.shown) is nothing that has a limit of its own",
      cure: near.map { "did you mean \(quoted($0))?" }
        ?? "write `client`, `route`, `api_key`, `header:NAME`, `claim:NAME`, a list of these, or `none`")
    return nil
  }
}
