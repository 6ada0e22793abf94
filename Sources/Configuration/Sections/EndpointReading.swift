import Diagnostics

extension RootReader {
  func endpoints(_ node: Node) -> [EndpointConfiguration]? {
    guard let elements = context.list(node, "endpoints") else { return nil }
    if elements.isEmpty {
      context.error(node.position, "no endpoint is given", cure: "write `endpoints: [\"http://host:port\"]`")
    }
    var result: [EndpointConfiguration] = []
    var known: [EndpointConfiguration: EndpointConfiguration] = [:]
    for element in elements {
      guard let endpoint = endpoint(element) else { continue }
      if let first = known[endpoint] {
        let what = endpoint.isSecret || first.isSecret ? "this endpoint" : endpoint.shortText
        context.report(.givenTwice(what, at: endpoint.position, first: first.position))
      } else {
        known[endpoint] = endpoint
        result.append(endpoint)
      }
    }
    return result
  }

  /// A URL, or a mapping with one and what else is said of the endpoint.
  private func endpoint(_ node: Node) -> EndpointConfiguration? {
    guard case .mapping = node.content else { return context.endpoint(node) }
    let section = Sections.endpoint
    guard let map = MappingReader(node, section, context) else { return nil }
    var result: EndpointConfiguration?
    switch (map[.url], map[.srv]) {
    case (let url?, nil): result = context.endpoint(url)
    case (nil, let name?): result = service(name, map)
    case (.some, .some):
      context.error(
        map.keyPosition(.srv), "an endpoint has either a `url` or an `srv`", cure: "write two endpoints")
    case (nil, nil):
      if !map.wasMeant(.url), !map.wasMeant(.srv) {
        context.error(
          node.position, "an endpoint needs `url` or `srv`", cure: "write `url: \"http://host:port\"`")
      }
    }
    if map[.srv] == nil, map[.tls] != nil {
      context.error(
        map.keyPosition(.tls), "`tls` of an endpoint goes with `srv` only", cure: "write `https://` in its `url`")
    }
    guard var endpoint = result else { return nil }
    context.read(map[.weight], into: &endpoint.weight) { context.integer($0, 1...1000) }
    context.read(map[.zone], into: &endpoint.zone) { context.name($0, "a zone")?.value }
    return endpoint
  }

  /// `_grpc._tcp.content.internal`, the name of service records.
  private func service(_ node: Node, _ map: MappingReader<EndpointKey>) -> EndpointConfiguration? {
    guard let text = context.name(node, "a name of service records") else { return nil }
    guard let name = IPAddress.hostName(text.value), name.hasPrefix("_"), name.split(separator: ".").count > 2 else {
      context.error(
        node.position, "\(text.shown) is not a name of service records",
        cure: "write it as `_http._tcp.content.internal` (RFC 2782)")
      return nil
    }
    var isSecure = false
    context.read(map[.tls], into: &isSecure) { context.boolean($0) }
    var endpoint = EndpointConfiguration(
      host: name, port: 0, isSecure: isSecure, authority: name, position: node.position)
    endpoint.target = .service
    endpoint.isSecret = text.isSecret
    return endpoint
  }
}

extension EndpointConfiguration {
  /// For faults: the authority alone is enough to find it.
  fileprivate var shortText: String { target == .address ? authority : text }
}
