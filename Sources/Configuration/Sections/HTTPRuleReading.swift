import Diagnostics

extension RootReader {
  /// `http:` of a method, in the words of google.api.http.
  func rule(_ node: Node, _ section: Section<RuleKey>) -> HTTPRuleConfiguration? {
    guard let map = MappingReader(node, section, context) else { return nil }
    let given = (RuleKey.verbs + [.custom]).filter { map[$0] != nil }
    if given.isEmpty, RuleKey.verbs.contains(where: { map.wasMeant($0) }) { return nil }
    guard let verb = given.first, given.count == 1 else {
      let verbs = given.isEmpty ? "out a verb" : " \(listed(given.map(\.rawValue)))"
      context.error(
        given.dropFirst().first.map { map.keyPosition($0) } ?? node.position,
        "\(section.name) with\(verbs)",
        cure: "write one of `get`, `put`, `post`, `delete`, `patch`, `custom`; more go under `additional_bindings`")
      return nil
    }
    guard let node = map[verb], let (method, path) = verb == .custom ? custom(node) : simple(verb, node) else {
      return nil
    }
    var rule = HTTPRuleConfiguration(
      method: method, path: path.value, body: nil, responseBody: nil, additionalBindings: [], position: path.position)
    if let body = map[.body] {
      rule.body = context.name(body, "`*` or a field's name")?.value
      rule.bodyPosition = body.position
    }
    if let body = map[.responseBody] {
      rule.responseBody = context.name(body, "a field's name")?.value
      rule.responseBodyPosition = body.position
    }
    rule.additionalBindings =
      map[.additionalBindings].flatMap { context.list($0, "bindings") }?
      .compactMap { self.rule($0, Sections.additionalRule) } ?? []
    return rule
  }

  private func simple(_ verb: RuleKey, _ node: Node) -> (method: String, path: Text)? {
    path(node).map { (verb.rawValue.uppercased(), $0) }
  }

  private func custom(_ node: Node) -> (method: String, path: Text)? {
    let section = Sections.customRule
    guard let map = MappingReader(node, section, context) else { return nil }
    let cure = "write `custom: { kind: PURGE, path: /v1/x }`"
    let kind = map.required(.kind, section, context, cure: cure).flatMap { self.kind($0) }
    let path = map.required(.path, section, context, cure: cure).flatMap { self.path($0) }
    guard let kind, let path else { return nil }
    return (kind, path)
  }

  /// A method token (RFC 9110 section 5.6.2), or `*` for any.
  private func kind(_ node: Node) -> String? {
    guard let text = context.name(node, "an HTTP method") else { return nil }
    let isToken = text.value.utf8.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
    if isToken, text.value.utf8.count <= 32 { return text.value }
    context.error(node.position, "\(text.shown) is not an HTTP method", cure: "write a name as `PURGE`, or `*` for any")
    return nil
  }

  /// Only that it is a path; the template is parsed where the schema is known.
  private func path(_ node: Node) -> Text? {
    guard let text = context.name(node, "a path") else { return nil }
    if text.value.hasPrefix("/") { return text }
    context.error(node.position, "the path \(text.shown) does not begin with `/`", cure: "write it as `/v1/x/{id}`")
    return nil
  }
}
