import Diagnostics

/// `errors:` of a route.
extension RootReader {
  /// Of a `body:`, in levels and in values; an error is written for each refused call.
  private static let deepestBody = 16
  private static let mostValues = 200

  func apply(errors node: Node, to errors: inout ErrorSettings) {
    guard let map = MappingReader(node, Sections.errors, context) else { return }
    if let format = map[.format] {
      context.read(format, into: &errors.format) { context.word($0, "an error format") }
      if map[.body] != nil {
        context.error(map.keyPosition(.body), "`body` takes the place of `format`", cure: "keep one of them")
      }
      // A method's format goes before its service's body.
      errors.body = nil
    }
    if let node = map[.body], let body = outermost(node) { errors.body = body }
    if let node = map[.statuses], let statuses = MappingReader(node, Sections.errorStatuses, context) {
      for code in ErrorSettings.Code.allCases {
        context.read(statuses[code], into: &errors.statuses[code]) { context.integer($0, 200...599) }
      }
    }
    context.read(map[.inSuccess], into: &errors.inSuccess) { inSuccess($0) }
  }

  private func inSuccess(_ node: Node) -> ErrorSettings.InSuccess? {
    let section = Sections.inSuccess
    guard let map = MappingReader(node, section, context) else { return nil }
    let cure = "write `{ member: success, equals: false }`"
    guard
      let member = map.required(.member, section, context, cure: cure).flatMap({ context.name($0, "a member's name") })
    else { return nil }
    var result = ErrorSettings.InSuccess(member: member.value, test: .present)
    if let not = map[.not], map[.equals] != nil {
      context.error(not.position, "`equals` and `not` exclude each other", cure: "keep one of them")
      return nil
    }
    if let node = map[.equals] { result.test = .equals(values(node)) }
    if let node = map[.not] { result.test = .not(values(node)) }
    context.read(map[.code], into: &result.code) { context.word($0, "a code") }
    return result
  }

  /// One value or a list of them, as JSON writes them without quotes.
  private func values(_ node: Node) -> [String] {
    guard case .sequence(let elements) = node.content else { return [node].compactMap { context.text($0)?.value } }
    return elements.compactMap { context.text($0)?.value }
  }

  // MARK: The body

  private func outermost(_ node: Node) -> ErrorSettings.Body? {
    guard case .mapping = node.content, node.height <= Self.deepestBody, node.weight <= Self.mostValues else {
      context.error(
        node.position, "the body of an error is no object of a few members",
        cure: "write it as in `{ success: false, error: { code: \"{code}\", message: \"{message}\" } }`")
      return nil
    }
    return errorBody(node)
  }

  private func errorBody(_ node: Node) -> ErrorSettings.Body? {
    switch node.content {
    case .mapping(let entries):
      var members: [ErrorSettings.Body.Member] = []
      for entry in entries {
        guard let value = errorBody(entry.value) else { return nil }
        members.append(ErrorSettings.Body.Member(name: entry.key, value: value))
      }
      return .object(members)
    case .sequence(let elements):
      var values: [ErrorSettings.Body] = []
      for element in elements {
        guard let value = errorBody(element) else { return nil }
        values.append(value)
      }
      return .list(values)
    case .scalar(let scalar):
      if node.isNull { return .literal("null") }
      if scalar.isPlain, Self.isLiteral(scalar.text) { return .literal(scalar.text) }
      return context.text(node).flatMap { errorText($0) }
    }
  }

  /// What YAML without quotes and JSON write alike: true, false and whole numbers.
  private static func isLiteral(_ text: String) -> Bool {
    if text == "true" || text == "false" { return true }
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
    let isNumber =
      !digits.isEmpty && text.utf8.count - digits.count <= 1 && digits.allSatisfy { (0x30...0x39).contains($0) }
    return isNumber && (digits.count == 1 || digits.first != 0x30)
  }

  private func errorText(_ text: Text) -> ErrorSettings.Body? {
    var fragments: [ErrorSettings.Body.Fragment] = []
    var plain = ""
    var rest = text.value[...]
    while let brace = rest.firstIndex(of: "{") {
      plain += rest[..<brace]
      rest = rest[brace...]
      let name = rest.dropFirst().prefix { $0.isLetter || $0 == "_" }
      guard !name.isEmpty, rest.dropFirst(name.count + 1).first == "}" else {
        plain += "{"
        rest = rest.dropFirst()
        continue
      }
      let known = ErrorSettings.Placeholder.allCases
      guard let placeholder = ErrorSettings.Placeholder(rawValue: String(name)) else {
        context.error(
          text.position, "\(text.isSecret ? "a placeholder" : quoted("{\(name)}")) is not known",
          cure: "write \(listed(known.map { "{\($0.rawValue)}" }, "or"))")
        return nil
      }
      rest = rest.dropFirst(name.count + 2)
      if plain.isEmpty, fragments.isEmpty, rest.isEmpty { return .value(placeholder) }
      guard placeholder != .details else {
        context.error(text.position, "`{details}` is a list, and no part of a text", cure: "let it stand alone")
        return nil
      }
      if !plain.isEmpty { fragments.append(.text(plain)) }
      plain = ""
      fragments.append(.placeholder(placeholder))
    }
    plain += rest
    if !plain.isEmpty { fragments.append(.text(plain)) }
    return .text(fragments)
  }
}
