import Diagnostics

extension RootReader {
  /// `http:` of a method, in the words of google.api.http.
  func rule(_ node: Node) -> HTTPRuleConfiguration? {
    MappingReader(node, Sections.rule, context).flatMap { rule($0, at: node, Sections.rule.name, .own) }
  }

  /// What the keys of a rule say.
  ///
  /// - Parameter name: with its article: `an HTTP rule`.
  func rule(
    _ map: MappingReader<RuleKey>, at node: Node, _ name: String, _ sections: RuleSections
  ) -> HTTPRuleConfiguration? {
    let given = (RuleKey.verbs + [.custom]).filter { map[$0] != nil }
    if given.isEmpty, RuleKey.verbs.contains(where: { map.wasMeant($0) }) { return nil }
    guard let verb = given.first, given.count == 1 else {
      let verbs = given.isEmpty ? "out a verb" : " \(listed(given.map(\.rawValue)))"
      context.error(
        given.dropFirst().first.map { map.keyPosition($0) } ?? node.position,
        "\(name) with\(verbs)",
        cure: "write one of `get`, `put`, `post`, `delete`, `patch`, `custom`; more go under `additional_bindings`")
      return nil
    }
    guard let node = map[verb], let (method, path) = verb == .custom ? custom(node, sections) : simple(verb, node)
    else { return nil }
    var rule = HTTPRuleConfiguration(
      method: method, path: path.template, body: nil, responseBody: nil, additionalBindings: [], position: path.position
    )
    rule.templatePosition = path.text
    if let body = map[.body] {
      rule.body = context.name(body, "`*` or a field's name")?.value
      rule.bodyPosition = body.position
      if verb == .get {
        context.warning(
          body.position, "a GET with a body: browsers, caches and most clients know none",
          cure: "leave `body` out, the fields come from the query; or write `post:`")
      }
    }
    if let body = map[.responseBody] {
      rule.responseBody = context.name(body, "a field's name")?.value
      rule.responseBodyPosition = body.position
    }
    rule.additionalBindings =
      map[.additionalBindings].flatMap { context.list($0, "bindings") }?
      .compactMap { node in
        MappingReader(node, sections.additional, context)
          .flatMap { self.rule($0, at: node, sections.additional.name, sections) }
      } ?? []
    return rule
  }

  /// A path, its place, and where its first character stands, if that can be said.
  private typealias Path = (template: String, position: SourcePosition, text: SourcePosition?)

  private func simple(_ verb: RuleKey, _ node: Node) -> (method: String, path: Path)? {
    path(node).map { (verb.rawValue.uppercased(), $0) }
  }

  private func custom(_ node: Node, _ sections: RuleSections) -> (method: String, path: Path)? {
    let section = sections.custom
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
  private func path(_ node: Node) -> Path? {
    guard let text = context.name(node, "a path") else { return nil }
    if text.value.hasPrefix("/") { return (text.value, node.position, node.textPosition(of: text.value)) }
    context.error(node.position, "the path \(text.shown) does not begin with `/`", cure: "write it as `/v1/x/{id}`")
    return nil
  }
}
