import Diagnostics

extension RootReader {
  mutating func readRedis(_ node: Node) {
    for entry in context.mapping(node, "Redis servers by name") ?? [] {
      redisNames.insert(entry.key)
      if entry.key.isEmpty { context.error(entry.keyPosition, "a Redis server has an empty name", cure: "name it") }
      if let redis = redis(entry) { configuration.redis.append(redis) }
    }
  }

  private func redis(_ entry: Node.Entry) -> RedisConfiguration? {
    let section = Sections.redis
    guard var map = MappingReader(entry.value, section, context) else { return nil }
    map.place = entry.keyPosition
    let address = map.required(.address, section, context, cure: "write `address: 127.0.0.1:6379`")
      .flatMap { redisAddress($0) }
    var result = RedisConfiguration(
      name: entry.key, position: entry.keyPosition, address: address ?? .unix(path: ""))
    context.read(map[.username], into: &result.username) { context.name($0, "a user's name")?.value }
    context.read(map[.password], into: &result.password) { password($0) }
    if map[.username] != nil, map[.password] == nil {
      context.error(
        map.keyPosition(.username), "`username` is given without `password`",
        cure: "write `password: \"${env:REDIS_PASSWORD}\"`")
    }
    context.read(map[.database], into: &result.database) { context.integer($0, 0...65_535) }
    context.read(map[.timeout], into: &result.timeout) { context.duration($0) }
    context.read(map[.prefix], into: &result.prefix) { redisPrefix($0) }
    if let node = map[.tls] {
      result.tls = clientTLS(node, Sections.redisTLS)
      if case .unix = address, result.tls?.serverName == nil {
        context.error(
          map.keyPosition(.tls), "TLS over a socket of this machine needs `server_name`",
          cure: "name the host that the certificate is for, or leave `tls` out")
      }
    }
    return address == nil ? nil : result
  }

  private func redisAddress(_ node: Node) -> RedisConfiguration.Address? {
    guard let text = context.name(node, "an address") else { return nil }
    let cure = "write it as `redis.internal:6379`, `[::1]:6379` or `unix:/run/redis.sock`"
    if let path = text.value.dropping(prefix: "unix:") {
      guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else {
        context.error(node.position, "the path of the address \(text.shown) has not 1 to 107 bytes", cure: cure)
        return nil
      }
      return .unix(path: FilePath.resolve(path, from: node.position.file))
    }
    let (host, portText, isBracketed) = IPAddress.split(text.value)
    let literal = isBracketed ? IPAddress.ipv6(host) : IPAddress.ipv4(host) ?? IPAddress.hostName(host)
    let port = portText.map { IPAddress.port($0) } ?? 6379
    guard let literal, let port, port > 0 else {
      // A URL may hold a password.
      let shown = text.value.contains("@") ? "the address" : "the address \(text.shown)"
      context.error(node.position, "\(shown) is not a host and a port", cure: cure)
      return nil
    }
    return .host(literal, port: port)
  }

  private func password(_ node: Node) -> String? {
    guard let text = context.name(node, "a password") else { return nil }
    context.keep(secret: text.value)
    return text.value
  }

  mutating func readState(_ map: MappingReader<RootKey>) {
    if let node = map[.state], let map = MappingReader(node, Sections.state, context) {
      var state = StateConfiguration()
      context.read(map[.file], into: &state.file) { file($0) }
      context.read(map[.redis], into: &state.redis) { redisReference($0) }
      if map[.file] != nil || map[.redis] != nil { configuration.state = state }
    }
    if let node = map[.audit], let map = MappingReader(node, Sections.audit, context) {
      configuration.audit = map.required(.path, Sections.audit, context, cure: "write `path: audit.log`")
        .flatMap { file($0) }.map { AuditConfiguration(path: $0) }
    }
  }

  /// A name under `redis:`.
  func redisReference(_ node: Node) -> Reference? {
    reference(node).flatMap { redisReference(named: $0.name, node) }
  }

  func redisReference(named name: String, _ node: Node) -> Reference? {
    if redisNames.contains(name) || context.isIncomplete {
      return Reference(name: name, position: node.position, isSecret: context.isSecret(name))
    }
    let isSecret = context.isSecret(name)
    let names = redisNames.sorted()
    let near = isSecret ? nil : context.nearest(name, in: names)
    let all =
      names.isEmpty
      ? "give it as `redis: { NAME: { address: 127.0.0.1:6379 } }` at the top level"
      : "the Redis servers are \(listed(names.prefix(40).map { $0 }))"
    context.error(
      node.position, "there is no Redis server \(isSecret ? "of that name" : quoted(name))",
      cure: near.map { "did you mean \(quoted($0))?" } ?? all)
    return nil
  }

  /// Keys are read by people and matched by tools: no blanks, and not longer than anybody wants to send each time.
  private func redisPrefix(_ node: Node) -> String? {
    guard let text = context.name(node, "a prefix") else { return nil }
    guard text.value.utf8.count <= 64, text.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      context.error(node.position, "\(text.shown) is not a prefix", cure: "use up to 64 visible ASCII characters")
      return nil
    }
    return text.value
  }
}
