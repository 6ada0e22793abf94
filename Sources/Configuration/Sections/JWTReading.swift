import Diagnostics

extension RootReader {
  func jwt(_ node: Node) -> JWTConfiguration? {
    guard let map = MappingReader(node, Sections.jwt, context) else { return nil }
    var issuers: [JWTConfiguration.Issuer] = []
    if let list = map[.issuers] {
      for key in JWTKey.ofIssuer where map[key] != nil {
        context.error(
          map.keyPosition(key), "`\(key.rawValue)` stands beside `issuers`, and belongs to one of them",
          cure: "write it inside an element of `issuers`")
      }
      let elements = context.list(list, "issuers") ?? []
      if elements.isEmpty {
        context.error(
          list.position, "no issuer is given, so nobody could call", cure: "write `- { issuer: …, jwks: … }`")
      }
      for element in elements {
        guard let map = MappingReader(element, Sections.jwtIssuer, context) else { continue }
        _ = map.required(.issuer, Sections.jwtIssuer, context, cure: "write the `iss` of its tokens")
        if let issuer = issuer(map, Sections.jwtIssuer) { add(issuer, at: element.position, to: &issuers) }
      }
    } else if let one = issuer(map, Sections.jwt) {
      issuers = [one]
    }
    var result = JWTConfiguration(issuers: issuers)
    context.read(map[.from], into: &result.place) { tokenPlace($0) }
    context.read(map[.forward], into: &result.forward) { forwards($0) }
    context.read(map[.strip], into: &result.strips) { context.boolean($0) }
    context.read(map[.optional], into: &result.isOptional) { context.boolean($0) }
    return issuers.isEmpty ? nil : result
  }

  private func add(
    _ issuer: JWTConfiguration.Issuer, at position: SourcePosition, to issuers: inout [JWTConfiguration.Issuer]
  ) {
    if issuer.issuer != nil, issuers.contains(where: { $0.issuer == issuer.issuer }) {
      context.error(position, "this issuer is given twice", cure: "give each issuer once, with all its audiences")
    } else {
      issuers.append(issuer)
    }
  }

  private func issuer(_ map: MappingReader<JWTKey>, _ section: Section<JWTKey>) -> JWTConfiguration.Issuer? {
    let keys = map.required(.jwks, section, context, cure: "write `jwks: { url: \"https://…\" }` or `{ file: … }`")
      .flatMap { keySet($0) }
    var result = JWTConfiguration.Issuer(keys: keys ?? .file(FileReference(path: "", position: map.place)))
    context.read(map[.issuer], into: &result.issuer) { context.name($0, "an issuer")?.value }
    context.read(map[.audiences], into: &result.audiences) { node in
      context.texts(node, "audiences", each: "an audience")?.map(\.value)
    }
    context.read(map[.algorithms], into: &result.algorithms) { algorithms($0) }
    context.read(map[.leeway], into: &result.leeway) { context.duration($0, zeroAllowed: true) }
    context.read(map[.required], into: &result.required) { requiredClaims($0) }
    context.read(map[.expiry], into: &result.allowsEndless) { node in
      let word: Expiry? = context.word(node, "a treatment of tokens without `exp`")
      return word.map { $0 == .optional }
    }
    if case .published = result.keys, let symmetric = result.algorithms.first(where: \.isSymmetric) {
      context.error(
        map.keyPosition(.algorithms),
        "`\(symmetric.rawValue)` uses a shared secret, which no issuer publishes at a URL",
        cure: "leave it out, or name the key set as `jwks: { file: … }`")
    }
    return keys == nil ? nil : result
  }

  private enum Expiry: String, CaseIterable {
    case required, optional
  }

  private func algorithms(_ node: Node) -> [SignatureAlgorithm]? {
    guard let elements = context.list(node, "algorithms") else { return nil }
    var result: [SignatureAlgorithm] = []
    for element in elements {
      if context.text(element, "an algorithm")?.value.lowercased() == "none" {
        context.error(
          element.position, "tokens of algorithm `none` are not signed: anybody can make them",
          cure: "leave it out")
        continue
      }
      guard let algorithm: SignatureAlgorithm = context.word(element, "an algorithm") else { continue }
      if !result.contains(algorithm) { result.append(algorithm) }
    }
    if elements.isEmpty {
      context.error(node.position, "no algorithm is given, so nobody could call", cure: "write `[RS256]`")
    }
    return result
  }

  private func keySet(_ node: Node) -> JWTConfiguration.Keys? {
    let section = Sections.keySet
    guard let map = MappingReader(node, section, context) else { return nil }
    guard (map[.url] == nil) != (map[.file] == nil) else {
      if !map.wasMeant(.url), !map.wasMeant(.file) {
        context.error(
          map.place, map[.url] == nil ? "\(section.name) needs `url` or `file`" : "a key set has a `url` or a `file`",
          cure: "write `{ url: \"https://…\" }` or `{ file: keys.json }`")
      }
      return nil
    }
    if let node = map[.file] {
      for key in [KeySetKey.refresh, .tls] where map[key] != nil {
        context.error(
          map.keyPosition(key), "`\(key.rawValue)` is for a `url`",
          cure: "leave it out; a file is read anew when it changes")
      }
      guard let text = context.path(node) else { return nil }
      context.names(credentials: text.value)
      return .file(FileReference(path: text.value, position: text.position, isSecret: text.isSecret))
    }
    guard var resource = map[.url].flatMap({ context.resource($0) }) else { return nil }
    readTLS(map[.tls], at: map.keyPosition(.tls), into: &resource)
    var refresh: Duration = .seconds(600)
    context.read(map[.refresh], into: &refresh) { node in
      guard let period = context.duration(node) else { return nil }
      guard period >= .seconds(1) else {
        context.error(node.position, "a key set is not fetched more often than once a second", cure: "write `10m`")
        return nil
      }
      return period
    }
    return .published(resource, refresh: refresh)
  }

  /// The `tls:` beside a URL.
  func readTLS(_ node: Node?, at key: SourcePosition, into resource: inout RemoteResource) {
    guard let node else { return }
    resource.tls = upstreamTLS(node)
    for file in [resource.tls?.ca, resource.tls?.identity?.certificate, resource.tls?.identity?.key] {
      if let file { context.names(credentials: file.path) }
    }
    if !resource.endpoint.isSecure {
      context.error(key, "`tls` is for a URL with `https://`", cure: "write `https://`, or leave `tls` out")
    }
  }

  private func tokenPlace(_ node: Node) -> JWTConfiguration.Place? {
    guard let text = context.name(node, "where the token is") else { return nil }
    if text.value == "bearer" { return .bearer }
    if let name = text.value.dropping(prefix: "header:"), HeaderName.isToken(name),
      !HeaderName.isReserved(name.lowercased())
    {
      return name.lowercased() == "authorization" ? .bearer : .header(name.lowercased())
    }
    if let name = text.value.dropping(prefix: "cookie:"), HeaderName.isToken(name) { return .cookie(name) }
    if let name = text.value.dropping(prefix: "query:"), !name.isEmpty { return .query(name) }
    context.error(
      node.position, "\(text.shown) is no place of a token",
      cure: "write `bearer`, `header:NAME`, `cookie:NAME` or `query:NAME`")
    return nil
  }

  /// `{ sub: x-user-id }`: headers by claim.
  private func forwards(_ node: Node) -> [JWTConfiguration.Forward]? {
    guard let entries = context.mapping(node, "headers by claim") else { return nil }
    var result: [JWTConfiguration.Forward] = []
    for entry in entries {
      guard let header = identityHeader(entry.value) else { continue }
      if result.contains(where: { $0.header == header.value }) {
        context.error(
          entry.value.position, "\(header.shown) carries two claims", cure: "give each claim a header of its own")
      } else {
        result.append(JWTConfiguration.Forward(claim: entry.key, header: header.value))
      }
    }
    return result
  }

  /// `{ scope: [a, b], tenant: present }`.
  private func requiredClaims(_ node: Node) -> [JWTConfiguration.Claim]? {
    context.mapping(node, "values by claim")?.compactMap { entry in
      if case .sequence = entry.value.content {
        let values = context.texts(entry.value, "values", each: "a value")?.map(\.value) ?? []
        if values.isEmpty {
          context.error(entry.value.position, "no value is given, so nobody could call", cure: "write `present`")
        }
        return JWTConfiguration.Claim(name: entry.key, values: values)
      }
      guard let text = context.text(entry.value, "a value") else { return nil }
      return JWTConfiguration.Claim(name: entry.key, values: text.value == "present" ? nil : [text.value])
    }
  }
}
