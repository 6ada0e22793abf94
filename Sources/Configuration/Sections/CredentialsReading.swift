import Diagnostics

extension RootReader {
  func credentials(_ node: Node) -> CredentialsConfiguration? {
    guard let map = MappingReader(node, Sections.credentials, context) else { return nil }
    let given = CredentialsKey.allCases.filter { map[$0] != nil }
    guard let kind = given.first, given.count == 1, let settings = map[kind] else {
      if !CredentialsKey.allCases.contains(where: { map.wasMeant($0) }) {
        context.error(
          map.place,
          given.isEmpty
            ? "\(Sections.credentials.name) are of no kind"
            : "\(Sections.credentials.name) are of one kind, and here are \(listed(given.map(\.rawValue)))",
          cure: "write one of `static:`, `file:` and `oauth2:`")
      }
      return nil
    }
    switch kind {
    case .static: return staticCredentials(settings)
    case .file: return fileCredentials(settings)
    case .oauth2: return oauth2(settings).map { .oauth2($0) }
    }
  }

  private func staticCredentials(_ node: Node) -> CredentialsConfiguration? {
    let section = Sections.staticCredentials
    guard let map = MappingReader(node, section, context) else { return nil }
    var header = "authorization"
    context.read(map[.header], into: &header) { headerName($0)?.value }
    let value = map.required(.value, section, context, cure: "write `value: \"Bearer ${env:NAME}\"`")
      .flatMap { secretValue($0) }
    return value.map { .fixed(.init(name: header, value: $0)) }
  }

  /// A field's value that is shown nowhere.
  private func secretValue(_ node: Node) -> String? {
    guard let value = headerValue(node) else { return nil }
    if value.isEmpty {
      context.error(node.position, "the value is empty", cure: "give a secret, or leave `credentials` out")
      return nil
    }
    context.keep(secret: value, writtenAt: context.isSecret(value) ? nil : node.position)
    return value
  }

  private func fileCredentials(_ node: Node) -> CredentialsConfiguration? {
    let section = Sections.fileCredentials
    guard let map = MappingReader(node, section, context) else { return nil }
    var header = "authorization"
    var prefix = "Bearer "
    context.read(map[.header], into: &header) { node in
      guard let name = headerName(node)?.value else { return nil }
      if name != "authorization" { prefix = "" }
      return name
    }
    context.read(map[.prefix], into: &prefix) { node in
      guard let text = context.text(node, "a prefix") else { return nil }
      guard text.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !text.value.hasPrefix(" ") else {
        context.error(node.position, "\(text.shown) cannot stand in a header", cure: "write it as `\"Bearer \"`")
        return nil
      }
      return text.value
    }
    guard let path = map.required(.path, section, context, cure: "name the file").flatMap({ context.path($0) }) else {
      return nil
    }
    context.names(credentials: path.value)
    return .file(
      FileReference(path: path.value, position: path.position, isSecret: path.isSecret), header: header, prefix: prefix)
  }

  private func oauth2(_ node: Node) -> OAuth2Configuration? {
    let section = Sections.oauth2
    guard let map = MappingReader(node, section, context) else { return nil }
    var endpoint = map.required(.tokenURL, section, context, cure: "write `token_url: https://…`")
      .flatMap { context.resource($0) }
    let id = map.required(.clientID, section, context, cure: "write `client_id: NAME`")
      .flatMap { context.name($0, "a client's name")?.value }
    let secret = map.required(.clientSecret, section, context, cure: "write `client_secret: \"${env:NAME}\"`")
      .flatMap { context.name($0, "a secret") }
    if let secret { context.keep(secret: secret.value, writtenAt: secret.isSecret ? nil : secret.position) }
    if var resource = endpoint {
      readTLS(map[.tls], at: map.keyPosition(.tls), into: &resource)
      endpoint = resource
    }
    guard let endpoint, let id, let secret else { return nil }
    var result = OAuth2Configuration(endpoint: endpoint, clientID: id, clientSecret: secret.value)
    context.read(map[.scopes], into: &result.scopes) { node in
      context.texts(node, "scopes", each: "a scope")?.filter { scope in
        // RFC 6749 section 3.3.
        let isToken = scope.value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        if !isToken {
          context.error(scope.position, "\(scope.shown) is no scope", cure: "write each as an element of its own")
        }
        return isToken
      }.map(\.value)
    }
    context.read(map[.audience], into: &result.audience) { context.name($0, "an audience")?.value }
    context.read(map[.timeout], into: &result.timeout) { context.duration($0) }
    context.read(map[.clientAuth], into: &result.clientAuthentication) { context.word($0, "a way to authenticate") }
    return result
  }
}
