import Diagnostics

extension RootReader {
  func externalAuth(_ node: Node) -> ExternalAuthConfiguration? {
    let section = Sections.externalAuth
    guard let map = MappingReader(node, section, context) else { return nil }
    guard
      var service = map.required(.url, section, context, cure: "write `url: \"http://host/check\"`")
        .flatMap({ context.resource($0) })
    else { return nil }
    readTLS(map[.tls], at: map.keyPosition(.tls), into: &service)
    var result = ExternalAuthConfiguration(service: service)
    context.read(map[.method], into: &result.method) { context.word($0, "a method of the check") }
    context.read(map[.forwardRequestHeaders], into: &result.forwardedHeaders) { headerNames($0) }
    context.read(map[.upstreamHeaders], into: &result.upstreamHeaders) { headerNames($0) }
    context.read(map[.clientHeaders], into: &result.clientHeaders) { headerNames($0) }
    context.read(map[.timeout], into: &result.timeout) { context.duration($0) }
    context.read(map[.onFailure], into: &result.failure) { context.word($0, "a choice for failures") }
    context.read(map[.cache], into: &result.cache) { context.duration($0) }
    return result
  }

  /// Names of fields in lower case.
  private func headerNames(_ node: Node) -> [String]? {
    context.list(node, "header names")?.compactMap { headerName($0)?.value }
  }
}
