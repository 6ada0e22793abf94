import Diagnostics

/// Files of `google.api.Service`: HTTP rules beside the `.proto` files, by the names of the methods
/// (google/api/service.proto, google/api/http.proto "Http").
extension RootReader {
  mutating func readServiceConfig(_ path: Text) {
    context.opened(path.value)
    switch SourceFile.read(path.value, limit: DocumentLimits().bytes) {
    case .failed(let reason): context.error(path.position, "\(path.shown) cannot be read: \(reason)")
    case .tooLong:
      context.error(path.position, "\(path.shown) is larger than \(DocumentLimits().bytes) bytes", cure: "split it")
    case .bytes(let bytes):
      context.read(document: bytes)
      let (root, faults) = Composer.compose(bytes, file: path.value)
      faults.forEach { context.report($0) }
      if let root { readServiceConfig(root) }
    }
  }

  private mutating func readServiceConfig(_ root: Node) {
    guard let map = MappingReader(root, Sections.serviceConfig, context) else { return }
    if let type = map[.type], let name = context.name(type, "the name of a message"),
      name.value != "google.api.Service"
    {
      context.error(
        type.position, "\(name.shown) is no service configuration", cure: "name a file of `type: google.api.Service`")
    }
    guard let node = map[.http], let http = MappingReader(node, Sections.serviceConfigHTTP, context) else { return }
    // What it asks for is how paths are read here in any case.
    if let flag = http[.fullyDecodeReservedExpansion] { _ = context.boolean(flag) }
    for element in http[.rules].flatMap({ context.list($0, "HTTP rules") }) ?? [] {
      if let rule = selectedRule(element) { configuration.selectedRules.append(rule) }
    }
  }

  private func selectedRule(_ node: Node) -> SelectedRuleConfiguration? {
    let sections = RuleSections.foreign
    guard let map = MappingReader(node, sections.rule, context) else { return nil }
    let selector = map.required(
      .selector, sections.rule, context, cure: "write `selector: package.Service.Method`")
    let patterns = selector.flatMap { self.patterns($0) }
    let rule = rule(map, at: node, sections.rule.name, sections)
    guard let patterns, let rule else { return nil }
    return SelectedRuleConfiguration(patterns: patterns, rule: rule)
  }

  /// Names with dots, separated by commas; a `*` only as the whole last part.
  private func patterns(_ node: Node) -> [Reference]? {
    guard let text = context.name(node, "the name of a method") else { return nil }
    var column = node.textPosition(of: text.value)?.column
    var patterns: [Reference] = []
    for part in text.value.split(separator: ",", omittingEmptySubsequences: false) {
      let blanks = part.prefix { $0 == " " }.count
      let pattern = String(part.dropFirst(blanks).reversed().drop { $0 == " " }.reversed())
      var position = node.position
      if let start = column {
        position.column = start + blanks
        column = start + part.unicodeScalars.count + 1
      }
      guard isPattern(pattern) else {
        context.error(
          position, "\(text.isSecret ? text.shown : quoted(pattern)) is not a selector",
          cure: "write `package.Service.Method`, or `package.Service.*` for all methods of a service")
        return nil
      }
      patterns.append(Reference(name: pattern, position: position, isSecret: text.isSecret))
    }
    return patterns
  }

  private func isPattern(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.enumerated().allSatisfy { index, part in
      if part == "*" { return index == parts.count - 1 }
      return !part.isEmpty
        && part.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
          default: false
          }
        }
    }
  }
}
