import Diagnostics

/// `answer:`, for services that the gateway answers itself.
extension RootReader {
  private enum Answering: String, CaseIterable {
    case upstream, gateway
  }

  /// The service of the gateway's own that an entry is, if it says so.
  ///
  /// What would choose a backend is a fault then: there is none to choose.
  ///
  /// - Returns: besides, whether it is known who answers.
  mutating func gatewayService(
    _ entry: Node.Entry, _ map: MappingReader<RouteKey>
  ) -> (service: GatewayService?, isReadable: Bool) {
    guard let node = map[.answer] else { return (nil, true) }
    let answering: Answering? = context.word(node, "one who answers")
    guard answering == .gateway else { return (nil, answering != nil) }
    guard let service = GatewayService(rawValue: entry.key) else {
      context.error(
        node.position, "the gateway has no service \(quoted(entry.key)) of its own",
        cure: "leave `answer` out; it answers \(listed(GatewayService.allCases.map(\.rawValue)))")
      return (nil, false)
    }
    refuseBackends(map)
    for method in map[.methods].flatMap({ context.mapping($0, "methods by name") }) ?? [] {
      if let own = MappingReader(method.value, Sections.method, context) { refuseBackends(own) }
    }
    addGateway(entry.keyPosition)
    return (service, true)
  }

  private func refuseBackends(_ map: MappingReader<RouteKey>) {
    for key in [RouteKey.rest, .rpc, .stage, .shadow, .canary] where map[key] != nil {
      context.error(
        map.keyPosition(key), "\(quoted(key.rawValue)) chooses a backend, and the gateway answers itself",
        cure: "leave it out, or leave `answer` out")
    }
  }

  /// The gateway becomes an upstream, once.
  private mutating func addGateway(_ position: SourcePosition) {
    let name = UpstreamConfiguration.gatewayName
    if let taken = configuration.upstreams.first(where: { $0.name == name }) {
      guard !taken.isGateway else { return }
      context.error(
        taken.position, "an upstream is called \(quoted(name)), as the gateway is where it answers itself",
        cure: "give it another name, or leave `answer: gateway` out")
      return
    }
    configuration.upstreams.append(.gateway(position))
  }
}
