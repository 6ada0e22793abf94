import Diagnostics

extension RootReader {
  /// `store:` of a rate limit, and what belongs to it.
  func sharedStore(_ map: MappingReader<RateLimitKey>) -> RateLimitConfiguration.SharedStore? {
    let redis = map[.store].flatMap { store($0) }
    var shared = redis.map { RateLimitConfiguration.SharedStore(redis: $0) }
    // Also without a store, so that their own faults are told.
    var timeout = Duration.milliseconds(20)
    var onFailure = RateLimitConfiguration.OnFailure.local
    context.read(map[.timeout], into: &timeout) { context.duration($0) }
    context.read(map[.onFailure], into: &onFailure) { context.word($0, "what is done without Redis") }
    shared?.timeout = timeout
    shared?.onFailure = onFailure
    for key in [RateLimitKey.timeout, .onFailure] where map[key] != nil && map[.store] == nil && !map.wasMeant(.store) {
      context.error(
        map.keyPosition(key), "\(quoted(key.rawValue)) is for limits that replicas share",
        cure: "write `store: redis`, or leave it out")
    }
    return shared
  }

  /// `redis` where there is one server, `redis:NAME`, or `local`, which is nil.
  private func store(_ node: Node) -> Reference? {
    guard let text = context.name(node, "a store") else { return nil }
    if text.value == "local" { return nil }
    if let name = text.value.dropping(prefix: "redis:") { return redisReference(named: name, node) }
    guard text.value == "redis" else {
      let near = text.isSecret ? nil : context.nearest(text.value, in: ["local", "redis"])
      context.error(
        node.position, "\(text.shown) is not a store",
        cure: near.map { "did you mean \(quoted($0))?" } ?? "write `local`, `redis` or `redis:NAME`")
      return nil
    }
    let names = redisNames.sorted()
    if names.count == 1, let only = names.first { return Reference(name: only, position: node.position) }
    if context.isIncomplete { return nil }
    context.error(
      node.position,
      names.isEmpty
        ? "there is no Redis server to keep limits in" : "there are several Redis servers to keep limits in",
      cure: names.isEmpty
        ? "give it as `redis: { NAME: { address: 127.0.0.1:6379 } }` at the top level"
        : "name one: \(listed(names.prefix(40).map { "redis:" + $0 }, "or"))")
    return nil
  }
}
