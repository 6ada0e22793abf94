import Diagnostics

extension RootReader {
  /// A list of interceptors.
  ///
  /// - Parameter outer: Those that stand before these on every call.
  func interceptors(_ node: Node, after outer: [InterceptorConfiguration]) -> [InterceptorConfiguration] {
    var places: [InterceptorKey: SourcePosition] = [:]
    var result: [InterceptorConfiguration] = []
    for element in context.list(node, "interceptors") ?? [] {
      if let name = bareName(element) {
        context.error(element.position, "the interceptor \(quoted(name)) has no settings", cure: "write `\(name): {}`")
        continue
      }
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

  /// The name of an interceptor that stands alone, without a colon.
  private func bareName(_ element: Node) -> String? {
    guard case .scalar(let scalar) = element.content else { return nil }
    return InterceptorKey(rawValue: scalar.text)?.rawValue
  }

  private static func isOnlyOnce(_ key: InterceptorKey) -> Bool {
    switch key {
    case .accessLog, .requestID, .cors, .tracing: true
    case .headers, .apiKey, .rateLimit, .concurrency, .jwt, .externalAuth, .clientCertificate: false
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
    case .concurrency: concurrency(node).map { .concurrency($0) }
    case .tracing: tracing(node).map { .tracing($0) }
    case .cors: cors(node).map { .cors($0) }
    case .jwt: jwt(node).map { .jwt($0) }
    case .clientCertificate: clientCertificate(node).map { .clientCertificate($0) }
    case .externalAuth: externalAuth(node).map { .externalAuth($0) }
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
      case .externalAuth: follows = "external_auth"
      case .jwt(let jwt): if !jwt.isOptional { follows = "jwt" }
      case .accessLog, .requestID, .headers, .rateLimit, .concurrency, .tracing, .clientCertificate: continue
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
    var keys: [String]? = []
    if map[.keys] != nil || map[.keysFile] == nil {
      keys = map.required(.keys, section, context, cure: "write `keys_file: PATH`, or `keys: \"${file:keys.txt}\"`")
        .flatMap { self.keys($0) }
    }
    var header: String?
    var query: String?
    context.read(map[.header], into: &header) { headerName($0, isMetadata: false)?.value }
    context.read(map[.query], into: &query) { context.name($0, "a parameter's name")?.value }
    if map[.header] == nil, map[.query] == nil { header = "x-api-key" }
    guard let keys else { return nil }
    var result = APIKeyConfiguration(keys: keys, header: header, query: query)
    context.read(map[.keysFile], into: &result.file) { node -> FileReference? in
      guard let path = context.path(node) else { return nil }
      context.opened(path.value)
      return FileReference(path: path.value, position: path.position, isSecret: path.isSecret)
    }
    context.read(map[.forward], into: &result.forward) { identityHeader($0)?.value }
    if result.forward != nil, map[.keysFile] == nil, !map.wasMeant(.keysFile) {
      context.error(
        map.keyPosition(.forward), "`forward` is given without `keys_file`, which has the names",
        cure: "write `keys_file: PATH`")
    }
    return result
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
        context.keep(secret: String(key), writtenAt: text.isSecret ? nil : text.position)
        keys.append(String(key))
      }
    }
    if keys.isEmpty {
      context.error(node.position, "no key is given, so nobody could call", cure: "give one, or leave `api_key` out")
      return nil
    }
    return keys
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
