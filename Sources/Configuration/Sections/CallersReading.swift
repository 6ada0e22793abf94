import Diagnostics

extension RootReader {
  /// `callers:`
  func callers(_ node: Node) -> CallersConfiguration {
    var callers = CallersConfiguration()
    guard let map = MappingReader(node, Sections.callers, context) else { return callers }
    context.read(map[.agentHeader], into: &callers.agentHeader) { callerHeader($0) }
    context.read(map[.versionHeader], into: &callers.versionHeader) { callerHeader($0) }
    return callers
  }

  /// The name of a header whose value is shown.
  private func callerHeader(_ node: Node) -> [UInt8]? {
    guard let name = headerName(node, isMetadata: false)?.value else { return nil }
    guard !["authorization", "proxy-authorization", "cookie"].contains(name) else {
      context.error(
        node.position, "\(quoted(name)) holds credentials, and what names a caller is shown",
        cure: "name a header like `user-agent` or `x-app-version`")
      return nil
    }
    return Array(name.utf8)
  }
}
