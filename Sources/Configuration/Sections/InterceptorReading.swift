import Diagnostics

extension RootReader {
  /// A list of interceptors.
  ///
  /// - Parameter outer: Those that stand before these on every call.
  func interceptors(_ node: Node, after outer: [InterceptorConfiguration]) -> [InterceptorConfiguration] {
    var places: [InterceptorKey: SourcePosition] = [:]
    var result: [InterceptorConfiguration] = []
    for element in context.list(node, "interceptors") ?? [] {
      guard let map = MappingReader(element, Sections.interceptor, context) else { continue }
      guard let key = self.name(of: element, map), let settings = map[key] else { continue }
      if Self.isOnlyOnce(key) {
        if let first = places[key] {
          context.report(.givenTwice(key.rawValue, at: map.keyPosition(key), first: first))
          continue
        }
        places[key] = map.keyPosition(key)
      }
      guard let interceptor = interceptor(key, settings) else { continue }
      check(interceptor, after: outer + result, at: map.keyPosition(key))
      result.append(interceptor)
    }
    return result
  }

  private static func isOnlyOnce(_ key: InterceptorKey) -> Bool {
    switch key {
    case .accessLog, .requestID, .cors: true
    case .headers, .apiKey, .rateLimit, .jwt: false
    }
  }

  /// The one key of an element.
  private func name(of element: Node, _ map: MappingReader<InterceptorKey>) -> InterceptorKey? {
    let given = InterceptorKey.allCases.filter { map[$0] != nil }
    if given.count > 1 {
      context.error(
        element.position, "an interceptor has one name, and here are \(listed(given.map(\.rawValue)))",
        cure: "begin each of them with `- `")
      return nil
    }
    if given.isEmpty {
      // Another name was reported already.
      if case .mapping(let entries) = element.content, !entries.isEmpty { return nil }
      context.error(element.position, "an interceptor without a name", cure: "write `- access_log: {}`")
    }
    return given.first
  }

  private func interceptor(_ key: InterceptorKey, _ node: Node) -> InterceptorConfiguration? {
    switch key {
    case .accessLog: accessLog(node).map { .accessLog($0) }
    case .requestID: requestID(node).map { .requestID($0) }
    case .headers: headers(node).map { .headers($0) }
    case .apiKey: apiKey(node).map { .apiKey($0) }
    case .rateLimit: rateLimit(node).map { .rateLimit($0) }
    case .cors: cors(node).map { .cors($0) }
    case .jwt: jwt(node).map { .jwt($0) }
    }
  }

  /// What is pointless or harmful in its place.
  private func check(
    _ interceptor: InterceptorConfiguration, after outer: [InterceptorConfiguration], at position: SourcePosition
  ) {
    guard case .cors = interceptor else { return }
    var follows: String?
    for other in outer {
      switch other {
      case .cors:
        context.error(
          position, "`cors` stands before this one on the same calls already",
          cure: "keep one: for all routes, or for each service")
        return
      case .apiKey: follows = "api_key"
      case .jwt(let jwt): if !jwt.isOptional { follows = "jwt" }
      case .accessLog, .requestID, .headers, .rateLimit: continue
      }
    }
    if let follows {
      context.warning(
        position,
        "`cors` comes after `\(follows)`, which refuses the preflights of browsers: they carry no credentials",
        cure: "put `cors` before it")
    }
  }

  private func accessLog(_ node: Node) -> AccessLogConfiguration? {
    guard let map = MappingReader(node, Sections.accessLog, context) else { return nil }
    var result = AccessLogConfiguration()
    context.read(map[.format], into: &result.format) { context.word($0, "a log format") }
    context.read(map[.path], into: &result.path) { context.path($0)?.value }
    return result
  }

  private func requestID(_ node: Node) -> RequestIDConfiguration? {
    guard let map = MappingReader(node, Sections.requestID, context) else { return nil }
    var result = RequestIDConfiguration()
    context.read(map[.trust], into: &result.trust) { context.boolean($0) }
    return result
  }

  private func apiKey(_ node: Node) -> APIKeyConfiguration? {
    let section = Sections.apiKey
    guard let map = MappingReader(node, section, context) else { return nil }
    let keys = map.required(.keys, section, context, cure: "write `keys: \"${file:keys.txt}\"`, one key a line")
      .flatMap { self.keys($0) }
    var header: String?
    var query: String?
    context.read(map[.header], into: &header) { headerName($0, isMetadata: false)?.value }
    context.read(map[.query], into: &query) { context.name($0, "a parameter's name")?.value }
    if map[.header] == nil, map[.query] == nil { header = "x-api-key" }
    return keys.map { APIKeyConfiguration(keys: $0, header: header, query: query) }
  }

  /// Keys as a list, or in a text with a key on each line; blank lines and those with `#` first do not count.
  private func keys(_ node: Node) -> [String]? {
    var nodes = [node]
    if case .sequence(let elements) = node.content { nodes = elements }
    var keys: [String] = []
    for node in nodes {
      guard let text = context.text(node, "a key") else { return nil }
      for line in text.value.split(whereSeparator: \.isNewline) {
        let key = line.trimmingBlanks()
        if key.isEmpty || key.hasPrefix("#") && text.isSecret { continue }
        guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
          context.error(node.position, "a key has a blank or a character beyond ASCII", cure: "use visible ASCII")
          return nil
        }
        context.keep(secret: String(key))
        keys.append(String(key))
      }
    }
    if keys.isEmpty {
      context.error(node.position, "no key is given, so nobody could call", cure: "give one, or leave `api_key` out")
      return nil
    }
    return keys
  }

  private enum LimitKey: String, CaseIterable {
    case client, route, none
  }

  private func rateLimit(_ node: Node) -> RateLimitConfiguration? {
    let section = Sections.rateLimit
    guard let map = MappingReader(node, section, context) else { return nil }
    let requests = map.required(.requests, section, context, cure: "write `requests: 100`")
      .flatMap { context.integer($0, 1...1_000_000_000) }
    let per = map.required(.per, section, context, cure: "write `per: 1s`").flatMap { context.duration($0) }
    var result = RateLimitConfiguration(requests: requests ?? 1, per: per ?? .seconds(1))
    context.read(map[.burst], into: &result.burst) { context.integer($0, 1...1_000_000_000) }
    context.read(map[.key], into: &result.key) { limitKey($0) }
    context.read(map[.maxKeys], into: &result.maximumKeys) { context.integer($0, 1...10_000_000) }
    return requests == nil || per == nil ? nil : result
  }

  private func limitKey(_ node: Node) -> RateLimitConfiguration.Key? {
    guard let text = context.name(node, "what has a limit of its own") else { return nil }
    switch LimitKey(rawValue: text.value) {
    case .client: return .client
    case .route: return .route
    case .some(.none): return RateLimitConfiguration.Key.none
    case nil: break
    }
    if let name = text.value.dropping(prefix: "header:"), HeaderName.isToken(name) { return .header(name.lowercased()) }
    let near = text.isSecret ? nil : context.nearest(text.value, in: LimitKey.allCases.map(\.rawValue))
    context.error(
      node.position, "\(text.shown) is nothing that has a limit of its own",
      cure: near.map { "did you mean \(quoted($0))?" } ?? "write `client`, `route`, `none` or `header:NAME`")
    return nil
  }
}

extension Substring {
  /// Without blanks and tabs at both ends.
  fileprivate func trimmingBlanks() -> Substring {
    var rest = drop { $0 == " " || $0 == "\t" }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return rest
  }
}
