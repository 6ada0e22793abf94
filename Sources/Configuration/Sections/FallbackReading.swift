import Diagnostics

extension RootReader {
  /// `true`, `false`, or what is particular.
  func apply(fallback node: Node, to fallback: inout RouteSettings.Fallback) {
    guard case .mapping = node.content else {
      guard let text = context.text(node, "true or false") else { return }
      switch text.value.lowercased() {
      case "true", "on", "yes": fallback.isOn = true
      case "false", "off", "no": fallback.isOn = false
      default:
        context.error(
          node.position, "\(text.shown) is not true or false",
          cure: "write `fallback: true` to ask the other side after a failure; who gets what no route matches is named "
            + "by `fallback:` at the top level")
        return
      }
      fallback.position = node.position
      return
    }
    guard let map = MappingReader(node, Sections.fallback, context) else { return }
    fallback.isOn = true
    fallback.position = node.position
    context.read(map[.unsafe], into: &fallback.unsafe) { context.boolean($0) }
    context.read(map[.maxBody], into: &fallback.maxBody) { context.size($0, 0...(16 << 20)) }
  }
}
