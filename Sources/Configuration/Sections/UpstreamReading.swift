import Diagnostics

extension RootReader {
  mutating func readUpstreams(_ node: Node) {
    for entry in context.mapping(node, "upstreams by name") ?? [] {
      // Known from here on, so that a fault inside does not make each reference a fault too.
      upstreamProtocols[entry.key] = .some(nil)
      if let upstream = upstream(entry) {
        upstreamProtocols[entry.key] = upstream.protocol
        configuration.upstreams.append(upstream)
      }
    }
  }

  private func upstream(_ entry: Node.Entry) -> UpstreamConfiguration? {
    let section = Sections.upstream
    if entry.key.isEmpty { context.error(entry.keyPosition, "an upstream has an empty name", cure: "name it") }
    guard var map = MappingReader(entry.value, section, context) else { return nil }
    map.place = entry.keyPosition
    let kind: UpstreamConfiguration.BackendProtocol? =
      map.required(.protocol, section, context, cure: "write `protocol: rest`, `connect`, `grpc` or `grpc-web`").flatMap
    {
      context.word($0, "a protocol")
    }
    let endpoints = map.required(.endpoints, section, context, cure: "write `endpoints: [\"http://host:port\"]`")
      .flatMap { self.endpoints($0) }
    var result = UpstreamConfiguration(
      name: entry.key, position: entry.keyPosition, protocol: kind ?? .rest, endpoints: endpoints ?? [])
    context.read(map[.codec], into: &result.codec) { context.word($0, "a codec") }
    if kind == .grpc { result.http = .two }
    context.read(map[.http], into: &result.http) { context.word($0, "an HTTP version") }
    if kind == .grpc, result.http != .two, let node = map[.http] {
      context.error(
        node.position, "gRPC needs HTTP/2: its status stands in trailers",
        cure: "leave `http` out, or write `protocol: grpc-web` for a server that has only HTTP/1.1")
    }
    context.read(map[.connectTimeout], into: &result.connectTimeout) { context.duration($0) }
    context.read(map[.maxIdleConnections], into: &result.maxIdleConnections) { context.integer($0, 0...100_000) }
    context.read(map[.maxConnections], into: &result.maxConnections) { context.integer($0, 1...100_000) }
    read(map, into: &result)
    if let node = map[.headers] { result.headers = headerChanges(node) }
    context.read(map[.credentials], into: &result.credentials) { credentials($0) }
    if let node = map[.tls] {
      result.tls = upstreamTLS(node)
      if let endpoints, !endpoints.isEmpty, !endpoints.contains(where: \.isSecure) {
        context.error(
          map.keyPosition(.tls), "`tls` is for endpoints with `https://`, and there is none",
          cure: "write `https://` before the endpoints that speak TLS, or leave `tls` out")
      }
    }
    return kind == nil ? nil : result
  }
}
