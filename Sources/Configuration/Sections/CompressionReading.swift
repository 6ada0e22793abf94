import Diagnostics

extension RootReader {
  /// `on`, `off`, or what is particular.
  func apply(compression node: Node, to settings: inout CompressionConfiguration) {
    guard case .mapping = node.content else {
      if let isOn = context.boolean(node) { settings.isOn = isOn }
      return
    }
    guard let map = MappingReader(node, Sections.compression, context) else { return }
    settings.isOn = true
    context.read(map[.minSize], into: &settings.minimumSize) { context.size($0, 0...(1 << 30)) }
    context.read(map[.passThrough], into: &settings.passThrough) { context.boolean($0) }
    context.read(map[.algorithms], into: &settings.algorithms) { algorithms($0) }
    context.read(map[.types], into: &settings.types) { types($0) }
  }

  private func algorithms(_ node: Node) -> [CompressionConfiguration.Algorithm]? {
    guard let elements = context.list(node, "algorithms") else { return nil }
    var result: [CompressionConfiguration.Algorithm] = []
    for element in elements {
      guard let one: CompressionConfiguration.Algorithm = context.word(element, "an algorithm") else { return nil }
      if !result.contains(one) { result.append(one) }
    }
    if result.isEmpty {
      context.error(node.position, "no algorithm is given", cure: "write `compression: off`")
      return nil
    }
    return result
  }

  private func types(_ node: Node) -> [String]? {
    context.list(node, "media types")?.compactMap { element in
      guard let text = context.name(element, "a media type") else { return nil }
      let parts = text.value.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 2, parts.allSatisfy({ HeaderName.isToken(String($0)) }) else {
        context.error(
          element.position, "\(text.shown) is not a media type", cure: "write it as `application/json` or `text/*`")
        return nil
      }
      return text.value.lowercased()
    }
  }
}
