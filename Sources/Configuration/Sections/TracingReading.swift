import Diagnostics

extension RootReader {
  private static let mostAttributes = 64

  func tracing(_ node: Node) -> TracingConfiguration? {
    guard let map = MappingReader(node, Sections.tracing, context) else { return nil }
    var result = TracingConfiguration()
    if let node = map[.exporter], let kinds = MappingReader(node, Sections.traceExporter, context) {
      let cure = "write `exporter: { otlp: { endpoint: \"http://127.0.0.1:4318/v1/traces\" } }`"
      result.exporter = kinds.required(.otlp, Sections.traceExporter, context, cure: cure).flatMap { otlp($0) }
    }
    context.read(map[.sample], into: &result.sample) { context.share($0) }
    context.read(map[.parentBased], into: &result.parentBased) { context.boolean($0) }
    context.read(map[.serviceName], into: &result.serviceName) { context.name($0, "a service's name")?.value }
    context.read(map[.resource], into: &result.resource) { attributes($0) }
    return result
  }

  private func otlp(_ node: Node) -> TracingConfiguration.Exporter? {
    let section = Sections.otlp
    guard let map = MappingReader(node, section, context) else { return nil }
    let cure = "write `endpoint: \"http://127.0.0.1:4318/v1/traces\"`"
    guard var endpoint = map.required(.endpoint, section, context, cure: cure).flatMap({ context.resource($0) }) else {
      return nil
    }
    readTLS(map[.tls], at: map.keyPosition(.tls), into: &endpoint)
    var result = TracingConfiguration.Exporter(endpoint: endpoint)
    context.read(map[.protocol], into: &result.encoding) { context.word($0, "a protocol of OTLP") }
    context.read(map[.timeout], into: &result.timeout) { context.duration($0) }
    context.read(map[.interval], into: &result.interval) { context.duration($0) }
    context.read(map[.queue], into: &result.queue) { context.integer($0, 1...1_000_000) }
    for entry in map[.headers].flatMap({ context.mapping($0, "values by header name") }) ?? [] {
      if let field = headerField(entry) { result.headers.append(field) }
    }
    return result
  }

  private func attributes(_ node: Node) -> [HeaderChangesConfiguration.Field]? {
    guard let entries = context.mapping(node, "values by attribute") else { return nil }
    if entries.count > Self.mostAttributes {
      context.error(node.position, "more than \(Self.mostAttributes) attributes", cure: "give fewer")
      return nil
    }
    return entries.compactMap { entry in
      context.text(entry.value, "a value").map { .init(name: entry.key, value: $0.value) }
    }
  }
}
