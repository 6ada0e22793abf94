import Diagnostics

extension RootReader {
  /// The name of an upstream, or a mapping that says more.
  func fallback(_ node: Node) -> FallbackConfiguration? {
    guard case .mapping = node.content else { return target(node).map { FallbackConfiguration(upstream: $0) } }
    guard let map = MappingReader(node, Sections.unrouted, context) else { return nil }
    let upstream = map.required(.upstream, Sections.unrouted, context, cure: "write `upstream:` and the name of one")
    var result = FallbackConfiguration(
      upstream: upstream.flatMap { target($0) } ?? Reference(name: "", position: node.position))
    context.read(map[.isPublic], into: &result.isPublic) { context.boolean($0) }
    if let node = map[.interceptors] { result.interceptors = interceptors(node, after: configuration.interceptors) }
    if let node = map[.limits] { apply(limits: node, to: &result.limits) }
    if result.isPublic, result.interceptors.contains(where: \.isAuthentication) {
      context.error(
        map.keyPosition(.interceptors), "the fallback is public, so its own checks of callers would not be made",
        cure: "leave `public` or the checks out")
    }
    return result.upstream.name.isEmpty ? nil : result
  }

  private func target(_ node: Node) -> Reference? {
    guard let name = reference(node) else { return nil }
    check(name, is: .any, for: "`fallback`")
    return name
  }

  /// `limits:` of a route or of the fallback.
  func apply(limits node: Node, to limits: inout RouteSettings.Limits) {
    guard let map = MappingReader(node, Sections.routeLimits, context) else { return }
    context.read(map[.request], into: &limits.request) { context.size($0, 0...(1 << 40)) }
    context.read(map[.response], into: &limits.response) { context.size($0, 1...(1 << 40)) }
  }
}
