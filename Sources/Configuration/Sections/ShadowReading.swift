import Diagnostics

extension RootReader {
  /// Lays the keys of `shadow:` over what stands. Whether its paths mean something is known only with the schema.
  func apply(shadow node: Node, to shadow: inout RouteSettings.Shadow) {
    guard let map = MappingReader(node, Sections.shadow, context) else { return }
    context.read(map[.sample], into: &shadow.sample) { context.share($0) }
    context.read(map[.maxBody], into: &shadow.maxBody) { context.size($0, 0...(1 << 30)) }
    context.read(map[.maxInFlight], into: &shadow.maxInFlight) { context.integer($0, 1...100_000) }
    context.read(map[.maxRate], into: &shadow.maxRate) { context.integer($0, 0...1_000_000) }
    context.read(map[.timeout], into: &shadow.timeout) { context.duration($0) }
    context.read(map[.unsafe], into: &shadow.unsafe) { context.boolean($0) }
    if let node = map[.back], let value = context.boolean(node) {
      shadow.back = value
      shadow.backPosition = node.position
    }
    context.read(map[.ignore], into: &shadow.ignore) { fieldPaths($0) }
    context.read(map[.unordered], into: &shadow.unordered) { fieldPaths($0) }
    context.read(map[.tolerance], into: &shadow.tolerance) { tolerances($0) }
    context.read(map[.unknown], into: &shadow.unknown) { context.word($0, "a treatment of unknown fields") }
    context.read(map[.spelling], into: &shadow.spelling) { context.word($0, "a treatment of spellings") }
    context.read(map[.samples], into: &shadow.samples) { context.word($0, "a form of samples") }
    context.read(map[.maxSamples], into: &shadow.maxSamples) { context.integer($0, 0...1_000) }
    context.read(map[.pathMetrics], into: &shadow.pathMetrics) { context.boolean($0) }
  }

  private func fieldPaths(_ node: Node) -> [Reference]? {
    context.texts(node, "field paths", each: "a field's path")?.map {
      Reference(name: $0.value, position: $0.position, isSecret: $0.isSecret)
    }
  }

  private func tolerances(_ node: Node) -> [RouteSettings.FieldTolerance]? {
    context.mapping(node, "tolerances by field path")?.compactMap { entry in
      amount(entry.value).map {
        RouteSettings.FieldTolerance(path: Reference(name: entry.key, position: entry.keyPosition), amount: $0)
      }
    }
  }

  /// `0.01`, `1%` or `2s`.
  private func amount(_ node: Node) -> RouteSettings.FieldTolerance.Amount? {
    guard let text = context.text(node, "a number, a percentage or a duration") else { return nil }
    let (number, unit) = Quantity.split(text.value)
    if let value = Double(number), value.isFinite {
      if unit.isEmpty { return .absolute(value) }
      if unit == "%" { return .relative(value / 100) }
      if let duration = try? Quantity.duration(text.value) { return .time(duration) }
    }
    context.error(
      node.position, "\(text.shown) is not a tolerance",
      cure: "write a number, a percentage or, for times, a duration, as in `0.01`, `1%` or `2s`")
    return nil
  }
}
