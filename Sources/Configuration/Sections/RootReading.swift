import Diagnostics

/// Turns the tree of all files into the configuration.
struct RootReader {
  let context: LoadContext
  var configuration = GatewayConfiguration()
  /// The upstreams' names as the file gives them, the faulty ones too: nil where the protocol is not readable.
  var upstreamProtocols: [String: UpstreamConfiguration.BackendProtocol?] = [:]
  /// The names under `redis:`, the faulty ones too.
  var redisNames: Set<String> = []

  /// Each of them costs a descriptor in every event loop.
  static let mostListeners = 256

  init(_ context: LoadContext) { self.context = context }

  mutating func read(_ root: Node) {
    guard let map = MappingReader(root, Sections.root, context) else { return }
    readListeners(map)
    if let node = map[.schema] { readSchema(node) }
    if let node = map[.redis] { readRedis(node) }
    readState(map)
    context.read(map[.zone], into: &configuration.zone) { context.name($0, "a zone")?.value }
    if let node = map[.nameServers] { configuration.nameServers = nameServers(node) }
    if let node = map[.upstreams] { readUpstreams(node) }
    // Before the services: theirs come after these, which matters to the checks.
    if let node = map[.interceptors] { configuration.interceptors = interceptors(node, after: []) }
    if let node = map[.services] { readServices(node) }
    if let node = map[.limits] { readLimits(node) }
    if let node = map[.timeouts] { readTimeouts(node) }
    if let node = map[.fallback] { configuration.fallback = fallback(node) }
    context.read(map[.workers], into: &configuration.workers) { context.integer($0, 1...256) }
    context.read(map[.drain], into: &configuration.drain) { context.duration($0, zeroAllowed: true) }
    context.read(map[.via], into: &configuration.via) { context.boolean($0) }
    context.read(map[.log], into: &configuration.log) { context.word($0, "a log format") }
    if let node = map[.callers] { configuration.callers = callers(node) }
    if configuration.services.contains(where: { $0.answerer == nil }), map[.schema] == nil, !context.isIncomplete {
      context.error(
        map.keyPosition(.services), "services are given without a `schema`",
        cure: "name a descriptor set or `.proto` files under `schema:`")
    }
  }

  /// A name of an upstream, not yet looked up.
  func reference(_ node: Node) -> Reference? {
    context.name(node, "the name of an upstream").map {
      Reference(name: $0.value, position: $0.position, isSecret: $0.isSecret)
    }
  }

  private func nameServers(_ node: Node) -> [SocketAddressConfiguration] {
    let elements = context.list(node, "name servers") ?? []
    let addresses = elements.compactMap { context.socketAddress($0) }
    for address in addresses where address.port == 0 {
      context.error(address.position, "a name server has no port", cure: "write it as `10.0.0.53:53`")
    }
    return addresses
  }

  private mutating func readListeners(_ map: MappingReader<RootKey>) {
    let cure = "write `listeners: [ { address: 127.0.0.1:8080 } ]`"
    if let node = map.required(.listeners, Sections.root, context, cure: cure),
      let elements = context.list(node, "listeners")
    {
      if elements.isEmpty { context.error(map.keyPosition(.listeners), "no listener is given", cure: cure) }
      if elements.count > Self.mostListeners {
        context.error(map.keyPosition(.listeners), "more than \(Self.mostListeners) listeners", cure: "give fewer")
      }
      configuration.listeners = elements.prefix(Self.mostListeners).compactMap { listener($0) }
      var free: [String: Int] = [:]
      for index in configuration.listeners.indices where configuration.listeners[index].address.port == 0 {
        let host = configuration.listeners[index].address.host
        configuration.listeners[index].address.number = free[host, default: 0]
        free[host, default: 0] += 1
      }
    }
    if let node = map[.admin] { configuration.admin = admin(node) }
    if let node = map[.probes] { configuration.probes = address(node, Sections.probes, .address) }
    ListenerChecks.run(configuration, context)
  }

  private func address<Key>(_ node: Node, _ section: Section<Key>, _ key: Key) -> SocketAddressConfiguration? {
    guard let map = MappingReader(node, section, context) else { return nil }
    return map.required(key, section, context, cure: "write `address: 127.0.0.1:8080`")
      .flatMap { context.socketAddress($0) }
  }

  private func admin(_ node: Node) -> AdminConfiguration? {
    guard let map = MappingReader(node, Sections.admin, context) else { return nil }
    let token = map[.token].flatMap { self.token($0) }
    let tls = map[.tls].flatMap { listenerTLS($0) }
    let address = map.required(.address, Sections.admin, context, cure: "write `address: 127.0.0.1:9901`")
    guard let address = address.flatMap({ context.socketAddress($0) }) else { return nil }
    if !address.isLoopback, map[.token] == nil {
      context.error(
        address.position, "the admin endpoint would be open to the network without a token",
        cure: "set `token: \"${env:TURNOUT_ADMIN_TOKEN}\"`, or listen on `127.0.0.1`")
    }
    return AdminConfiguration(address: address, token: token, tls: tls)
  }

  /// A bearer token (RFC 6750 section 2.1): visible ASCII, so that a header can carry it.
  private func token(_ node: Node) -> String? {
    guard let text = context.text(node, "a token") else { return nil }
    guard !text.value.isEmpty else {
      context.error(node.position, "the token is empty", cure: "give a secret, or leave `token` out")
      return nil
    }
    guard text.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      context.error(node.position, "the token has a blank or a character beyond ASCII", cure: "use visible ASCII")
      return nil
    }
    context.keep(secret: text.value, writtenAt: text.isSecret ? nil : text.position)
    return text.value
  }
}
