import Diagnostics

extension RootReader {
  func cors(_ node: Node) -> CORSConfiguration? {
    let section = Sections.cors
    guard let map = MappingReader(node, section, context) else { return nil }
    var result = CORSConfiguration()
    let cure = "write `origins: [\"https://app.example.com\"]`"
    guard let list = map.required(.origins, section, context, cure: cure) else { return nil }
    var any: SourcePosition?
    let nodes = context.list(list, "origins") ?? []
    for node in nodes {
      guard let text = context.name(node, "an origin") else { continue }
      if text.value == "*" { any = node.position } else { origin(text).map { result.origins.append($0) } }
    }
    if nodes.isEmpty { context.error(list.position, "no origin is given, so no browser could call", cure: cure) }
    result.allowsAnyOrigin = any != nil
    context.read(map[.preset], into: &result.preset) { context.word($0, "a preset") }
    context.read(map[.privateNetwork], into: &result.privateNetwork) { context.boolean($0) }
    context.read(map[.credentials], into: &result.credentials) { context.boolean($0) }
    context.read(map[.methods], into: &result.methods) { methods($0) }
    context.read(map[.headers], into: &result.headers) { names($0, result.credentials) }
    context.read(map[.expose], into: &result.expose) { names($0, result.credentials) }
    context.read(map[.maxAge], into: &result.maxAge) { context.duration($0, zeroAllowed: true) }
    if result.credentials, let any {
      context.error(
        any, "credentials are not for every origin: any page could act as the user", cure: "name the origins")
    }
    return result
  }

  private func methods(_ node: Node) -> [String]? {
    context.list(node, "methods")?.compactMap { node in
      guard let text = context.name(node, "a method") else { return nil }
      guard HeaderName.isToken(text.value), text.value != "*" else {
        context.error(node.position, "\(text.shown) is not a method", cure: "write it as `GET`")
        return nil
      }
      return text.value.uppercased()
    }
  }

  /// Names of headers as they are given, or `*`.
  private func names(_ node: Node, _ credentials: Bool) -> [String]? {
    context.list(node, "header names")?.compactMap { node in
      guard let text = context.name(node, "a header's name") else { return nil }
      if text.value == "*", credentials {
        context.error(
          node.position, "with credentials browsers take `*` for a name and not for all", cure: "name the headers")
        return nil
      }
      guard HeaderName.isToken(text.value) else {
        context.error(node.position, "\(text.shown) is not a header's name", cure: "use letters, digits and `-`")
        return nil
      }
      return text.value
    }
  }
}
