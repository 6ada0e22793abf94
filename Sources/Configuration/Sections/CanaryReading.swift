import Diagnostics

/// `canary:` and `override:` of a route.
extension RootReader {
  /// - Returns: Whether the share could be read, or none is given.
  func apply(canary node: Node, to canary: inout RouteSettings.Canary?) -> Bool {
    guard let map = MappingReader(node, Sections.canary, context) else { return false }
    var result = canary ?? RouteSettings.Canary()
    let share = map[.percent].map { context.share($0) }
    result.percent = (share ?? nil) ?? result.percent
    context.read(map[.stickyBy], into: &result.stickyBy) { stickyKeys($0) }
    context.read(map[.salt], into: &result.salt) { context.name($0, "a salt")?.value }
    context.read(map[.rules], into: &result.rules) { node in
      context.list(node, "rules")?.compactMap { canaryRule($0) }
    }
    canary = result
    return share != .some(nil) && !map.wasMeant(.percent)
  }

  private func stickyKeys(_ node: Node) -> [RouteSettings.StickyKey]? {
    var nodes = [node]
    if case .sequence(let elements) = node.content { nodes = elements }
    var keys: [RouteSettings.StickyKey] = []
    for node in nodes {
      guard let key = stickyKey(node) else { return nil }
      keys.append(key)
    }
    return keys
  }

  private func stickyKey(_ node: Node) -> RouteSettings.StickyKey? {
    guard let text = context.name(node, "what a caller is known by") else { return nil }
    if text.value == "client_address" { return .clientAddress }
    if let name = text.value.dropping(prefix: "header:"), HeaderName.isToken(name) { return .header(name.lowercased()) }
    if let name = text.value.dropping(prefix: "cookie:"), HeaderName.isToken(name) { return .cookie(name) }
    if let name = text.value.dropping(prefix: "claim:"), !name.isEmpty { return .claim(name) }
    context.error(
      node.position, "\(text.shown) is nothing that a caller is known by",
      cure: "write `header:NAME`, `cookie:NAME`, `claim:NAME` or `client_address`")
    return nil
  }

  private func canaryRule(_ node: Node) -> RouteSettings.CanaryRule? {
    let section = Sections.canaryRule
    guard let map = MappingReader(node, section, context) else { return nil }
    let cure = "write `{ when: { header: x-beta, present: true }, use: rpc }`"
    let conditions = map.required(.when, section, context, cure: cure).flatMap { canaryConditions($0) }
    let use: RouteSettings.Side? = map.required(.use, section, context, cure: cure)
      .flatMap { context.word($0, "a side") }
    guard let conditions, let use else { return nil }
    return RouteSettings.CanaryRule(conditions: conditions, use: use)
  }

  private func canaryConditions(_ node: Node) -> [RouteSettings.CanaryCondition]? {
    guard let map = MappingReader(node, Sections.canaryCondition, context) else { return nil }
    var conditions: [RouteSettings.CanaryCondition] = []
    let tests = CanaryConditionKey.tests.filter { map[$0] != nil }
    if let node = map[.header] {
      guard let name = headerName(node, isMetadata: false) else { return nil }
      if tests.isEmpty {
        context.error(
          node.position, "nothing is asked of the header \(name.shown)",
          cure: "add `equals:`, `in:`, `prefix:`, `version:` or `present: true`")
        return nil
      }
      for key in tests {
        guard let node = map[key], let test = headerTest(key, node) else { return nil }
        conditions.append(.header(name.value, test))
      }
    } else if let test = tests.first {
      context.error(
        map.keyPosition(test), "\(quoted(test.rawValue)) is asked of no header", cure: "name it with `header:`")
      return nil
    }
    if let node = map[.protocol] {
      guard let protocols = callerProtocols(node) else { return nil }
      conditions.append(.protocols(protocols))
    }
    if let node = map[.address] {
      guard let ranges = context.addressRanges(node) else { return nil }
      conditions.append(.addresses(ranges))
    }
    if conditions.isEmpty {
      context.error(
        node.position, "a rule without a condition would decide for everybody",
        cure: "name a `header:`, a `protocol:` or an `address:`, or set the stage")
      return nil
    }
    return conditions
  }

  private func headerTest(_ key: CanaryConditionKey, _ node: Node) -> RouteSettings.HeaderTest? {
    switch key {
    case .equals: context.text(node).map { .equals($0.value) }
    case .present: context.boolean(node).map { .present($0) }
    case .prefix: context.name(node, "a beginning").map { .prefix($0.value) }
    case .in: context.texts(node, "values", each: "a value").map { .oneOf($0.map(\.value)) }
    case .version:
      context.name(node, "a range of versions").map {
        .version(Reference(name: $0.value, position: node.position, isSecret: $0.isSecret))
      }
    case .header, .protocol, .address: nil
    }
  }

  private func callerProtocols(_ node: Node) -> [RouteSettings.CallerProtocol]? {
    var nodes = [node]
    if case .sequence(let elements) = node.content { nodes = elements }
    var protocols: [RouteSettings.CallerProtocol] = []
    for node in nodes {
      guard let one: RouteSettings.CallerProtocol = context.word(node, "a protocol") else { return nil }
      protocols.append(one)
    }
    return protocols
  }

  func sideOverride(_ node: Node) -> RouteSettings.Override? {
    guard let map = MappingReader(node, Sections.override, context) else { return nil }
    var result = RouteSettings.Override()
    context.read(map[.header], into: &result.header) { headerName($0, isMetadata: false)?.value }
    context.read(map[.secret], into: &result.secret) { secret($0) }
    context.read(map[.addresses], into: &result.addresses) { context.addressRanges($0) }
    if map[.secret] == nil, map[.addresses] == nil {
      context.error(
        node.position, "anybody could choose the side",
        cure: "add `secret: \"${env:NAME}\"` or `addresses: [10.0.0.0/8]`")
      return nil
    }
    return result
  }

  /// What a header can carry, without blanks at its ends.
  private func secret(_ node: Node) -> String? {
    guard let text = context.name(node, "a secret") else { return nil }
    guard text.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      context.error(node.position, "the secret has a blank or a character beyond ASCII", cure: "use visible ASCII")
      return nil
    }
    context.keep(secret: text.value)
    return text.value
  }
}
